//! `isonomy crdt types`: which types are there?

use clap::Args;
use isonomy_crdt::DataType;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, Table, Terminal};

/// Arguments of `crdt types`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  isonomy crdt types\n  isonomy crdt types --json\n\nExit codes: 0 done.")]
pub(crate) struct TypesArgs {
    /// Print one JSON object per type, a line each
    #[arg(long)]
    json: bool,
}

/// The operations of a type, as the notation has them.
fn operations(data_type: DataType) -> &'static [&'static str] {
    match data_type {
        DataType::OrSet | DataType::RwSet => &["add(x)", "remove(x)", "contains(x)=true"],
        DataType::EwFlag | DataType::DwFlag => &["enable(x)", "disable(x)", "read(x)=true"],
        DataType::MvRegister => &["write(x,1)", "read(x)={1,2}", "read(x)={}"],
        DataType::LwwRegister => &["write(x,1)", "read(x)=1", "read(x)=_"],
        DataType::Counter => &["inc(x)", "dec(x)", "read(x)=3"],
        DataType::Rga => &["addAfter(_,a)", "addAfter(a,b)", "remove(a)", "read()=[a,b]"],
    }
}

pub(crate) fn run(args: &TypesArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let mut text = String::new();
    if args.json {
        for data_type in DataType::ALL {
            let line = json!({
                "type": data_type.name(),
                "other_names": data_type.other_names(),
                "about": data_type.about(),
                "operations": operations(data_type),
            });
            text += &format!("{line}\n");
        }
    } else {
        let mut table = Table::new(["type", "also", "operations"]);
        for data_type in DataType::ALL {
            table.row([
                (data_type.name().into(), Style::Plain),
                (data_type.other_names().join(", "), Style::Faint),
                (operations(data_type).join(" "), Style::Plain),
            ]);
        }
        text = table.render(terminal.out);
        text.push('\n');
        let width = DataType::ALL.iter().map(|data_type| data_type.name().len()).max().unwrap_or(0);
        for data_type in DataType::ALL {
            text += &format!("{:width$}  {}\n", data_type.name(), data_type.about());
        }
    }
    Output::new().print(&text)?;
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operations_are_those_of_the_notation() {
        for data_type in DataType::ALL {
            let text = format!("type: {data_type}\na: {}", operations(data_type).join(" "));
            let history = isonomy_crdt::read(text.as_bytes(), None, None).expect("it is notation");
            assert_eq!(history.len(), operations(data_type).len());
        }
    }
}
