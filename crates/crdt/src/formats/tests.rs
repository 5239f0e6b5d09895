use super::*;

fn written(history: &History, format: Format) -> String {
    let mut out = Vec::new();
    write(history, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn error(text: &str, data_type: Option<DataType>) -> String {
    read(text.as_bytes(), data_type, None).unwrap_err().to_string()
}

/// Each type's operations in both formats, as written.
const EXAMPLES: [(&str, &str); 6] = [
    (
        "type: or-set\na: add(x) contains(x)=true\n\"b c\": remove(1) contains(\"1\")=false\n",
        "{\"crdt\":1,\"type\":\"or-set\"}\n{\"replica\":\"a\",\"ops\":[[\"add\",\"x\"],[\"contains\",\"x\",true]]}\n{\"replica\":\"b c\",\"ops\":[[\"remove\",1],[\"contains\",\"1\",false]]}\n",
    ),
    (
        "type: dw-flag\n7: enable(p) disable(p) read(p)=false\n",
        "{\"crdt\":1,\"type\":\"dw-flag\"}\n{\"replica\":7,\"ops\":[[\"enable\",\"p\"],[\"disable\",\"p\"],[\"read\",\"p\",false]]}\n",
    ),
    (
        "type: mv-register\na: write(x,1) read(x)={1,2,\"_\"} read(x)={}\n",
        "{\"crdt\":1,\"type\":\"mv-register\"}\n{\"replica\":\"a\",\"ops\":[[\"write\",\"x\",1],[\"read\",\"x\",[1,2,\"_\"]],[\"read\",\"x\",[]]]}\n",
    ),
    (
        "type: lww-register\n\"type\": write(x,-1) read(x)=-1 read(x)=_ read(x)=\"\\\"#\\n\"\n",
        "{\"crdt\":1,\"type\":\"lww-register\"}\n{\"replica\":\"type\",\"ops\":[[\"write\",\"x\",-1],[\"read\",\"x\",-1],[\"read\",\"x\",null],[\"read\",\"x\",\"\\\"#\\n\"]]}\n",
    ),
    (
        "type: counter\na: inc(x) dec(x) read(x)=-2\n",
        "{\"crdt\":1,\"type\":\"counter\"}\n{\"replica\":\"a\",\"ops\":[[\"inc\",\"x\"],[\"dec\",\"x\"],[\"read\",\"x\",-2]]}\n",
    ),
    (
        "type: rga\na: addAfter(_,a) addAfter(a,b) remove(a) read()=[b,a] read()=[]\n",
        "{\"crdt\":1,\"type\":\"rga\"}\n{\"replica\":\"a\",\"ops\":[[\"addAfter\",null,\"a\"],[\"addAfter\",\"a\",\"b\"],[\"remove\",\"a\"],[\"read\",[\"b\",\"a\"]],[\"read\",[]]]}\n",
    ),
];

#[test]
fn both_formats_say_the_same() {
    for (notation, jsonl) in EXAMPLES {
        for text in [notation, jsonl] {
            let history = read(text.as_bytes(), None, None).unwrap();
            assert_eq!(written(&history, Format::Notation), notation);
            assert_eq!(written(&history, Format::Jsonl), jsonl);
        }
    }
}

#[test]
fn notation_is_lenient_about_lines_and_blanks() {
    let text = "# first\n\ntype : or-set # of elements\r\na: add( x ) / b:add(y)remove(\"#/\") / a: contains(x) = true#\n / \n";
    let history = read(text.as_bytes(), None, None).unwrap();
    let expected = "type: or-set\na: add(x) contains(x)=true\nb: add(y) remove(\"#/\")\n";
    assert_eq!(written(&history, Format::Notation), expected);
    assert_eq!(history.operations().map(|op| history.line(op)).collect::<Vec<_>>(), [4, 4, 4, 4]);
    // A replica may be called `type`.
    let history = read("type: inc(x)".as_bytes(), Some(DataType::Counter), None).unwrap();
    assert_eq!(history.len(), 1);
}

#[test]
fn sets_are_written_by_name_however_the_history_was_built() {
    let text = "a: write(x,3) / b: write(x,2) read(x)={3,2,1} / a: write(x,1)";
    let history = read(text.as_bytes(), Some(DataType::MvRegister), None).unwrap();
    let once = written(&history, Format::Notation);
    assert!(once.contains("{1,2,3}"), "{once}");
    assert_eq!(written(&read(once.as_bytes(), None, None).unwrap(), Format::Notation), once);
}

#[test]
fn the_type_must_be_known_and_agree() {
    assert!(error("a: add(x)", None).contains("--type"));
    assert!(error("", None).contains("--type"));
    assert!(error("{\"replica\":1,\"ops\":[]}", None).contains("--type"));
    assert!(read(&b""[..], Some(DataType::Rga), None).unwrap().is_empty());
    let other = error("\ntype: counter / a: inc(x)", Some(DataType::Rga));
    assert_eq!(other, "line 2: the history is of type counter, but `--type rga` was given");
    assert!(error("type: bag", None).starts_with("line 1: no data type is called `bag`"));
    assert!(read("type: lww".as_bytes(), Some(DataType::LwwRegister), None).is_ok());
}

#[test]
fn errors_in_notation_say_where_and_what() {
    let check = |data_type, text: &str, expected: &str| assert_eq!(error(text, Some(data_type)), expected, "{text}");
    use DataType::{Counter, LwwRegister, MvRegister, OrSet, Rga};
    check(OrSet, "a: add(x)\nb add(x)", "line 2: expected `:` after the name of a replica, found `add(x)`");
    let methods = "an operation of type or-set: add, remove or contains";
    check(OrSet, "a: push(x)", &format!("line 1: expected {methods}, found `push(x)`"));
    check(OrSet, "a: contains(x)=1", "line 1: expected true or false, found `1`");
    check(OrSet, "a: contains(x)", "line 1: expected `=` and what was returned, found the end of the line");
    check(OrSet, "a: add(_)", "line 1: expected a name: an integer, a word or a quoted string, found `_)`");
    check(OrSet, "a: add(\"x)", "line 1: expected a string in quotes, as in JSON, found `\"x)`");
    check(
        OrSet,
        "a: add(99999999999999999999)",
        "line 1: expected an integer of at most 64 bits, found `99999999999999999999)`",
    );
    check(Counter, "a: read(x)=many", "line 1: expected an integer of at most 64 bits, found `many`");
    check(MvRegister, "a: read(x)={1 2}", "line 1: expected `,` or `}`, found `2}`");
    check(MvRegister, "a: write(x)", "line 1: expected `,` and a value, found `)`");
    check(LwwRegister, "a: read(x)={1}", "line 1: expected the value that was returned, or `_` for none, found `{1}`");
    check(Rga, "a: read(x)=[]", "line 1: expected `)`: the read of an array has no argument, found `x)=[]`");
    let twice = error("a: addAfter(_,x)\nb: addAfter(_,x)", Some(Rga));
    assert!(twice.starts_with("line 2: element x is added a second time"), "{twice}");
    let binary = read(&b"a: add(\xff)"[..], Some(OrSet), None).unwrap_err().to_string();
    assert!(binary.starts_with("line 1: expected text in UTF-8"), "{binary}");
}

#[test]
fn errors_in_jsonl_say_where_and_what() {
    let check = |text: &str, expected: &str| {
        let error = error(text, Some(DataType::MvRegister));
        assert!(error.starts_with(expected), "{text}: {error}");
    };
    check(
        "{\"replica\":1,\"ops\":[[\"read\",\"x\",1]]}",
        "line 1: expected `[\"read\",\"x\",[1,2]]`, found `[\"read\",\"x\",1]`",
    );
    check(
        "{\"replica\":1,\"ops\":[[\"add\",\"x\"]]}",
        "line 1: expected an operation of type mv-register: write or read",
    );
    check("{\"replica\":1,\"ops\":[[]]}", "line 1: expected an operation of type mv-register: write or read");
    check("{\"replica\":1,\"ops\":[],\"node\":2}", "line 1, column 28: unknown field `node`, expected one of");
    check("{\"replica\":1}", "line 1: expected a replica and its operations");
    check("{\"replica\":null,\"ops\":[]}", "line 1: expected a replica and its operations");
    check("{\"crdt\":2}", "line 1: expected version 1 of the format");
    check("{\"crdt\":1}\n{\"crdt\":1}", "line 2: expected a replica and its operations");
    check("{\"replica\":1,\"ops\":[[\"write\",\"x\",1.5]]}", "line 1, column 36: invalid type: floating point `1.5`");
    check("{\"replica\":1,\"ops\":[[\"write\",\"x\",[[1]]]]}", "line 1, column 38: expected a list of names");
    check(&format!("{{\"ops\":{}", "[".repeat(100_000)), "line 1, column");
    check("{\"crdt\":1}\nb: write(x,1)", "line 2, column 1: expected value");
}

#[test]
fn long_histories_are_read_quickly_and_in_pieces() {
    let mut builder = HistoryBuilder::new(DataType::OrSet);
    for i in 0..100_000_i64 {
        let operation =
            if i % 3 == 0 { NamedOperation::Contains(i.into(), false) } else { NamedOperation::Add("x".into()) };
        builder.push((i % 3).into(), operation).unwrap();
    }
    let history = builder.finish();
    for format in Format::ALL {
        let text = written(&history, format);
        assert!(text.lines().all(|line| line.len() < 50_000));
        let started = std::time::Instant::now();
        let again = read(text.as_bytes(), None, None).unwrap();
        assert!(started.elapsed().as_secs() < 5, "{format} took {:?}", started.elapsed());
        assert_eq!(written(&again, format), text);
    }
}
