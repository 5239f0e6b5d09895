//! Text to syntax trees, without ever running out of stack.
//!
//! The parser's recursion is bounded by its own limit. Chains such as `1 + 1 + 1 …` or `a UNION b UNION c …` are read by a loop, but make
//! trees that are as deep as they are long, and taking those down recurses. So the tokens between two commas on one level of parentheses
//! are counted first; that bounds how deep a tree can become before it exists. What walks trees later may therefore recurse.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect as Grammar, MySqlDialect, PostgreSqlDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

/// As many tokens may stand between two commas. It is enough for some thousand alternatives in a `WHERE`.
const LONGEST_CHAIN: usize = 6000;

/// How deep parentheses may nest.
const DEEPEST: usize = 40;

/// The tokens of one statement.
#[derive(Clone, Debug)]
pub(crate) struct Words(Vec<Token>);

/// Splits a text at its semicolons. Statements of nothing but blanks and comments are left out.
pub(crate) fn split(sql: &str, dialect: Dialect) -> Result<Vec<Words>> {
    let grammar = grammar(dialect);
    let tokens = Tokenizer::new(&*grammar, sql)
        .tokenize()
        .map_err(|error| Kind::Syntax.error(format!("syntax error: {error} in `{}`", shorten(sql))))?;
    let mut statements = vec![Words(Vec::new())];
    for token in tokens {
        match token {
            Token::SemiColon => statements.push(Words(Vec::new())),
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {}
            // PostgreSQL's grammar knows a question mark as an operator of JSON, which is not supported here.
            Token::Question => add(&mut statements, Token::Placeholder("?".into())),
            other => add(&mut statements, other),
        }
    }
    statements.retain(|words| words.0.iter().any(|token| !matches!(token, Token::Whitespace(_))));
    Ok(statements)
}

fn add(statements: &mut [Words], token: Token) {
    if let Some(last) = statements.last_mut() {
        last.0.push(token);
    }
}

fn grammar(dialect: Dialect) -> Box<dyn Grammar> {
    match dialect {
        Dialect::PostgreSql => Box::new(PostgreSqlDialect {}),
        Dialect::MySql => Box::new(MySqlDialect {}),
    }
}

impl Words {
    /// Parses the statement.
    pub(crate) fn parse(self, dialect: Dialect) -> Result<Statement> {
        self.check_depth()?;
        let grammar = grammar(dialect);
        let text = self.shortened();
        let fail = |error: sqlparser::parser::ParserError| match error {
            sqlparser::parser::ParserError::RecursionLimitExceeded => too_deep(&text),
            other => Kind::Syntax.error(format!("syntax error: {} in `{text}`", message(&other))),
        };
        let mut parser = Parser::new(&*grammar).with_recursion_limit(120).with_tokens(self.0);
        let statement = parser.parse_statement().map_err(fail)?;
        match parser.peek_token().token {
            Token::EOF => Ok(statement),
            other => Err(Kind::Syntax.error(format!("syntax error at or near \"{other}\" in `{text}`"))),
        }
    }

    fn check_depth(&self) -> Result<()> {
        let mut lengths = vec![0_usize];
        for token in &self.0 {
            match token {
                Token::Whitespace(_) => continue,
                Token::LParen | Token::LBracket | Token::LBrace => {
                    lengths.push(0);
                    if lengths.len() > DEEPEST {
                        return Err(too_deep(&self.shortened()));
                    }
                }
                Token::RParen | Token::RBracket | Token::RBrace if lengths.len() > 1 => {
                    lengths.pop();
                }
                Token::Comma => lengths.last_mut().into_iter().for_each(|length| *length = 0),
                _ => {}
            }
            if let Some(length) = lengths.last_mut() {
                *length += 1;
                if *length > LONGEST_CHAIN {
                    return Err(too_deep(&self.shortened()));
                }
            }
        }
        Ok(())
    }

    /// The beginning of the statement, for messages.
    pub(crate) fn shortened(&self) -> String {
        let mut text = String::new();
        for token in &self.0 {
            match token {
                Token::Whitespace(_) if text.is_empty() || text.ends_with(' ') => {}
                Token::Whitespace(_) => text.push(' '),
                Token::SingleQuotedString(long) if long.len() > 100 => text.push_str(&shorten(long)),
                other => text.push_str(&other.to_string()),
            }
            if text.len() > 200 {
                break;
            }
        }
        shorten(text.trim_end())
    }
}

fn too_deep(text: &str) -> Error {
    Kind::TooComplex.error(format!("the statement nests too deeply: `{text}`"))
}

fn message(error: &sqlparser::parser::ParserError) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("sql parser error: ").unwrap_or(&text);
    shorten(text.split(" at Line").next().unwrap_or(text))
}

/// At most a line of it.
pub(crate) fn shorten(text: &str) -> String {
    const LINE: usize = 100;
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(sql: &str) -> Result<Vec<Statement>> {
        split(sql, Dialect::PostgreSql)?.into_iter().map(|words| words.parse(Dialect::PostgreSql)).collect()
    }

    #[test]
    fn statements_are_split() {
        assert_eq!(parse("SELECT ';' ; /* ; */ SELECT 1; -- ;\n ;").unwrap().len(), 2);
        assert_eq!(parse("  ").unwrap().len(), 0);
        let error = parse("SELECT 1 FROM").unwrap_err();
        assert_eq!(error.code, "42601");
        assert!(error.message.contains("SELECT 1 FROM"), "{error}");
    }

    #[test]
    fn depth_is_an_error() {
        for sql in [
            format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
            format!("SELECT 1{}", " + 1".repeat(100_000)),
            format!("SELECT 1{}", " UNION SELECT 1".repeat(100_000)),
            format!("SELECT {} 1", "NOT ".repeat(100_000)),
            format!("SELECT {} 1", "- ".repeat(5_000)),
            format!("SELECT {}1{}", "CASE WHEN ".repeat(3_000), " THEN 1 END".repeat(3_000)),
            format!("SELECT {}1{}", "f(".repeat(200), ")".repeat(200)),
        ] {
            assert_eq!(parse(&sql).unwrap_err().code, "54001", "{}", shorten(&sql));
        }
        let long = format!("SELECT 1 WHERE 1 = 1{}", " OR 2 = 1".repeat(1_400));
        assert!(parse(&long).is_ok());
    }
}
