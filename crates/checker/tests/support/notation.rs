//! The notation of the `hist` format, for tests that must not depend on its reader.

use isonomy_history::{Datum, History, HistoryBuilder, InitialRule, Name, NamedEvent, Outcome, Times};

/// A history in the notation `s1: [w(x,1) r(y,_)] […]! / s2: […]@10..20`.
pub(crate) fn history(text: &str) -> History {
    history_with(InitialRule::Absent, text)
}

/// The same, where keys hold something else at first.
pub(crate) fn history_with(initial: InitialRule, text: &str) -> History {
    let mut builder = HistoryBuilder::new();
    builder.set_initial(initial);
    for line in text.split([';', '\n']).flat_map(|line| line.split(" / ")).map(str::trim).filter(|l| !l.is_empty()) {
        let (session, mut rest) = line.split_once(':').unwrap_or_else(|| panic!("a session has a name: {line}"));
        while let Some(open) = rest.find('[') {
            let close = closing(rest, open);
            let after = &rest[close + 1..];
            let end = after.find('[').unwrap_or(after.len());
            builder.begin(Name::Text(session.trim()));
            builder.set_outcome(match &after[..end] {
                ending if ending.contains('!') => Outcome::Aborted,
                ending if ending.contains('?') => Outcome::Indeterminate,
                _ => Outcome::Committed,
            });
            if let Some((_, times)) = after[..end].split_once('@') {
                builder.set_times(parse_times(times.trim()));
            }
            for event in events(&rest[open + 1..close]) {
                builder.event(&parse_event(event));
            }
            rest = &after[end..];
        }
    }
    builder.finish().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn closing(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices().skip(open) {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return at,
            ']' => depth -= 1,
            _ => {}
        }
    }
    panic!("a transaction ends with `]`: {text}")
}

fn events(text: &str) -> Vec<&str> {
    let ends = text.match_indices(')').map(|(at, _)| if text[at + 1..].starts_with('!') { at + 2 } else { at + 1 });
    let mut events = Vec::new();
    let mut start = 0;
    for end in ends {
        events.push(text[start..end].trim());
        start = end;
    }
    events
}

fn parse_times(text: &str) -> Times {
    let times: Vec<Option<i64>> = text.split("..").map(|t| t.parse().ok()).collect();
    match times[..] {
        [start, finish] => Times { start, finish, ..Times::default() },
        [start, began, committing, finish] => Times { start, began, committing, finish },
        _ => panic!("two or four times: {text}"),
    }
}

fn parse_event(text: &str) -> NamedEvent<'_> {
    let (kind, arguments) = text.split_once('(').unwrap_or_else(|| panic!("an event has arguments: {text}"));
    let (arguments, ending) = arguments.split_once(')').expect("events end with `)`");
    let parts: Vec<&str> = arguments.splitn(2, ',').collect();
    let (key, rest) = (name(parts[0]), parts[1]);
    match kind {
        "r" => NamedEvent::Read(key, datum(rest)),
        "w" => NamedEvent::Write(key, datum(rest)),
        "append" => NamedEvent::Append(key, datum(rest)),
        "insert" => NamedEvent::Insert(key, datum(rest)),
        "delete" => NamedEvent::Delete(key, datum(rest)),
        "list" => NamedEvent::ReadList(key, items(rest).map(datum).collect()),
        "range" => {
            let (hi, rows) = rest.split_once(',').expect("a range has rows");
            let row = |item: &'_ str| -> (usize, usize) { (item.find('=').expect("rows are key=value"), item.len()) };
            let rows = items(rows).map(|item| (name(&item[..row(item).0]), datum(&item[row(item).0 + 1..])));
            NamedEvent::Range { lo: key, hi: name(hi), rows: rows.collect() }
        }
        "cas" => {
            let (expected, new) = rest.split_once(',').expect("cas has two values");
            let succeeded = ending != "!";
            NamedEvent::CompareAndSet { key, expected: datum(expected), new: datum(new), succeeded }
        }
        _ => panic!("unknown event: {text}"),
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.trim_matches(['[', ']']).split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn name(text: &str) -> Name<'_> {
    text.trim().parse().map_or(Name::Text(text.trim()), Name::Int)
}

fn datum(text: &str) -> Datum<'_> {
    match text.trim() {
        "_" => Datum::Initial,
        text => text.parse().map_or(Datum::Text(text), Datum::Int),
    }
}
