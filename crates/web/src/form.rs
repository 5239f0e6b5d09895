//! Forms and queries: `name=value&name=value`, as browsers write them.

/// The fields of a form, in their order. A name may come several times.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a body or a query. What is not UTF-8 is replaced.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Form(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decoded(name), decoded(value))
                })
                .collect(),
        )
    }

    /// The first field of a name, without blanks around it, unless that is all there is.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All fields of a name that are not blank.
    pub(crate) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        let of_name = self.0.iter().filter(move |(other, _)| other == name);
        of_name.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = || text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match bytes[at] {
            b'+' => out.push(b' '),
            b'%' => match code() {
                Some(byte) => {
                    out.push(byte);
                    at += 2;
                }
                None => out.push(b'%'),
            },
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let form = Form::parse("a=1+2&b=%C3%A9%2f&a=x&c&=&d=%zz&e=%");
        assert_eq!(form.get("a"), Some("1 2"));
        assert_eq!(form.all("a").collect::<Vec<_>>(), ["1 2", "x"]);
        assert_eq!(form.get("b"), Some("é/"));
        assert_eq!((form.get("c"), form.get("d"), form.get("e")), (None, Some("%zz"), Some("%")));
    }
}
