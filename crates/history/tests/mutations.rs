//! Broken files of every format: reading them succeeds or says what is wrong. It never panics.
//!
//! The mutations are drawn from fixed seeds, so that a failure repeats.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use isonomy_history::formats::{self, Format, ReadOptions, Source};
use isonomy_history::{History, HistoryBuilder};

/// Files with their names; one without a name is a stream.
type Sample = Vec<(String, Vec<u8>)>;

const TEXTS: &[&str] = &[
    // jsonl
    "{\"isonomy\":1,\"initial\":0}\n{\"session\":1,\"status\":\"aborted\",\"start\":10,\"finish\":20,\"ops\":[[\"r\",\"x\",0],[\"w\",\"x\",1]]}\n\
     {\"session\":\"a\",\"ops\":[[\"append\",3,1],[\"list\",3,[1]],[\"insert\",4,5],[\"delete\",4,6],[\"range\",1,9,[[4,6]]],[\"cas\",7,null,1,true]]}\n",
    // hist
    "s1: [w(x,1) w(y,1)] [r(x,1)]@10..20 # a\ns2: [r(x,_)]! [w(x,2)]?\n",
    // text
    "w(1,1,0,-1)\nr(1,1,0,1)\nw(2,5,0,1)\nr(2,5,1,2)\n",
    // dbcop
    "{\"params\":{\"id\":0},\"info\":\"x\",\"data\":[[{\"events\":[{\"Read\":{\"variable\":1,\"version\":null}},{\"Write\":{\"variable\":1,\"version\":2}}],\"committed\":true}],[]]}",
    "[[{\"events\":[[\"r\",1,null],[\"w\",1,2]],\"committed\":false}],[{\"events\":[{\"write\":false,\"variable\":1,\"value\":2,\"success\":true}],\"success\":true}]]",
    "// one\n[x:=1 y==?] [x==1]!\n---\n[y:=18446744073709551615]\n",
    "- - events:\n    - write:    true\n      variable: 0\n      value:    1\n      success:  true\n    success:    true\n  - events: []\n    success: false\n",
    // viper, one file
    "{\"value\": [[\"w\", 1, 2, true], [\"r\", 2, \"nil\", false], [\"i\", 3, 4, 0, true, true], [\"d\", 3, 5, 4, false, true]], \"preBeginTS\": 5}\n\
     {\"value\": [[\"range\", \"nil\", 9, [{\"id\": 1, \"val\": 2}], [{\"id\": 3, \"val\": 5}]], {\"opType\": \"r\", \"key\": 1, \"value\": 2, \"isDead\": false}]}\n",
    // elle
    "; c\n{:index 0, :type :invoke, :process 0, :f :txn, :time 1, :value [[:append 1 1] [:r 2 nil]]}\n#op{:index 1, :type :ok, :process 0, :f :txn, :time 2, :value [[:append 1 1] [:r 2 []]]}\n\
     {:type :info, :process :nemesis, :value #{\"n\" \\] ##Inf}} #_{:a 1}\n{:type :fail, :process 1, :error [:x #inst \"2020\"], :value [[:append :k \"v\"]]}\n",
    "[{:type :ok, :value [[:w 1 1] [:r 2 nil]]}, {:type :info, :value [(:w 1 2)]}]",
    "[{\"type\":\"invoke\",\"f\":\"txn\",\"value\":[[\"w\",\"x\",2]],\"process\":0,\"index\":1},\n{\"type\":\"ok\",\"f\":\"txn\",\"value\":[[\"w\",\"x\",2],[\"r\",\"y\",null]],\"process\":0,\"index\":2}]",
    "{:type :invoke, :process 0, :f :write, :value 1}\n{:type :ok, :process 0, :f :write, :value 1}\n{:type :fail, :process 1, :f :cas, :value [1 2]}\n\
     {:type :invoke, :process 2, :f :cas, :value [1 3]}\n{:type :info, :process 2, :f :cas}\n{:type :ok, :process 3, :f :read, :value nil}\n",
    "[{\"type\":\"invoke\",\"f\":\"read\",\"value\":[\"k\",null],\"process\":0,\"time\":1},{\"type\":\"ok\",\"f\":\"read\",\"value\":[\"k\",1],\"process\":0,\"time\":2},\n\
     {\"type\":\"ok\",\"f\":\"cas\",\"value\":[\"k\",[null,1]],\"process\":1,\"time\":2}]",
    // awdit
    "w 0 1\n-----\nr 0 1\nw 1 1\n=====\nr 1 0\n",
    // timestamped
    "[{\"tid\":67,\"sid\":\"19\",\"sts\":{\"p\":\"1691420095436341\",\"l\":61},\"cts\":{\"p\":1691420095659914,\"l\":18},\"ops\":[{\"t\":\"w\",\"k\":7,\"v\":2},{\"t\":\"r\",\"k\":8}]},\n\
     {\"tid\":\"b\",\"sid\":2,\"sts\":{\"p\":1691420095659915},\"cts\":{\"p\":1691420095659916},\"ops\":[{\"t\":\"read\",\"k\":7,\"v\":2}]}]",
];

fn samples() -> Vec<Sample> {
    let mut samples: Vec<Sample> = TEXTS.iter().map(|text| vec![(String::new(), text.as_bytes().to_vec())]).collect();
    samples.push(vec![(String::new(), bincode())]);
    samples.push(vec![(String::new(), binary())]);
    samples.push(vec![("T1.log".into(), cobra(1)), ("T2.log".into(), cobra(2))]);
    let viper = |text: &str| text.as_bytes().to_vec();
    samples.push(vec![
        (
            "J1.log".into(),
            viper("{\"value\": [[\"range\", \"nil\", \"nil\", [{\"id\": 1, \"val\": 7}], []]], \"isInitial\": true}\n"),
        ),
        (
            "J2.log".into(),
            viper("{\"value\": [[\"r\", 1, 7, false], [\"w\", 1, 8, true]]}\n{\"value\": [[\"r\", 2, 0, true]]}\n"),
        ),
    ]);
    samples
}

fn bincode() -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, n: u64| bytes.extend_from_slice(&n.to_le_bytes());
    (0..5).for_each(|n| number(&mut bytes, n));
    for text in ["Galera", "2019-04-02T11:06:21+02:00", ""] {
        number(&mut bytes, text.len() as u64);
        bytes.extend_from_slice(text.as_bytes());
    }
    number(&mut bytes, 2);
    for session in 0..2 {
        number(&mut bytes, 1);
        number(&mut bytes, 2);
        for (is_write, value) in [(0, 0), (1, session + 1)] {
            bytes.push(is_write);
            number(&mut bytes, 3);
            number(&mut bytes, value);
            bytes.push(1);
        }
        bytes.push(1);
    }
    bytes
}

fn binary() -> Vec<u8> {
    let mut history = HistoryBuilder::new();
    history.transaction("a").read("x", None::<i64>).write("x", 1).at(1, 2).commit();
    history.transaction(7).read("x", 1).append("l", "e").read_list("l", ["e"]).abort();
    history.transaction(7).insert(1, 2).range(0, 9, [(1, 2)]).compare_and_set(5, None::<i64>, 1, true).indeterminate();
    let mut bytes = Vec::new();
    formats::write(&history.finish().unwrap(), Format::Binary, &mut bytes).unwrap().unwrap();
    bytes
}

fn cobra(session: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let records: [(u8, &[i64]); 6] = [
        (b'S', &[session]),
        (b'W', &[session + 10, 5, 99]),
        (b'R', &[0xbebe_ebee, 0xbebe_ebee, 6, 0]),
        (b'C', &[session]),
        (b'S', &[session + 100]),
        (b'R', &[1, 11, 5, 99]),
    ];
    for (tag, numbers) in records {
        bytes.push(tag);
        numbers.iter().for_each(|n| bytes.extend_from_slice(&n.to_be_bytes()));
    }
    bytes
}

fn load(files: &Sample, format: Option<Format>) -> Result<History, formats::ReadError> {
    let options = ReadOptions { format, memory_limit: Some(64 << 20), ..ReadOptions::default() };
    let source = match &files[..] {
        [(name, bytes)] if name.is_empty() => Source::Stream(Box::new(&bytes[..])),
        _ => Source::Directory(
            files.iter().map(|(name, bytes)| (name.clone(), Box::new(&bytes[..]) as Box<dyn Read>)).collect(),
        ),
    };
    formats::read(source, options)
}

/// Reads, and uses what was read. Whether it succeeded.
fn try_load(files: &Sample, format: Option<Format>, context: &dyn Fn() -> String) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(|| match load(files, format) {
        Ok(history) => {
            let records: Vec<_> = history.transactions().map(|txn| history.record(txn)).collect();
            assert_eq!(records.iter().map(|record| record.events.len()).sum::<usize>(), history.event_count());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }));
    outcome.unwrap_or_else(|_| panic!("{} as {format:?}: {:?}", context(), shown(files)))
}

fn shown(files: &Sample) -> Vec<(&str, std::borrow::Cow<'_, str>)> {
    files.iter().map(|(name, bytes)| (name.as_str(), String::from_utf8_lossy(bytes))).collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        const BYTES: &[u8] = b"\0\n\r \"'#;:,.-+!\\[](){}0919eN_rwaxSWRCAtfn\x7f\x80\xc3\xff";
        let at = self.below(bytes.len());
        let to = at + self.below((bytes.len() - at).min(40) + 1);
        match self.below(8) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            2 => drop(bytes.drain(at..to)),
            3 => {
                let chunk = bytes[at..to].to_vec();
                let place = self.below(bytes.len() + 1);
                bytes.splice(place..place, chunk);
            }
            4 if !bytes.is_empty() => {
                let other = self.below(bytes.len());
                bytes.swap(at, other);
            }
            5 if !bytes.is_empty() => bytes[at] = BYTES[self.below(BYTES.len())],
            6 => bytes.insert(at, BYTES[self.below(BYTES.len())]),
            // A number that is too large, where there are digits or lengths.
            7 => {
                let large: [&[u8]; 4] = [b"9223372036854775808", b"-9223372036854775808", &[0xff; 8], b"1e999"];
                let end = (at + 8).min(bytes.len());
                bytes.splice(at..end, large[self.below(4)].iter().copied());
            }
            _ => {}
        }
    }
}

#[test]
fn samples_are_read_in_their_formats() {
    for sample in samples() {
        if let Err(error) = load(&sample, None) {
            panic!("{error}: {:?}", shown(&sample));
        }
    }
}

#[test]
fn every_sample_is_read_or_refused_as_every_format() {
    for sample in samples() {
        for format in Format::ALL {
            try_load(&sample, Some(format), &|| "a sample".into());
            // Streams as folders and the reverse.
            let folder: Sample = sample.iter().map(|(name, bytes)| (format!("T1{name}"), bytes.clone())).collect();
            try_load(&folder, Some(format), &|| "a folder".into());
            try_load(&vec![(String::new(), sample[0].1.clone())], Some(format), &|| "a stream".into());
        }
    }
}

#[test]
fn broken_samples_are_read_or_refused() {
    let rounds = std::env::var("ISONOMY_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(12_000);
    for (index, sample) in samples().iter().enumerate() {
        let mut read = 0;
        for round in 1..=rounds {
            read += usize::from(try_mutation(sample, index, round));
        }
        assert!(read < rounds as usize, "sample {index}: no mutation broke anything");
    }
}

fn try_mutation(sample: &Sample, index: usize, round: u64) -> bool {
    let mut random = Random((index as u64 + 1) << 32 | round);
    for _ in 0..4 {
        random.below(2);
    }
    let mut broken = sample.clone();
    for _ in 0..=random.below(3) {
        let file = random.below(broken.len());
        random.mutate(&mut broken[file].1);
    }
    let context = || format!("sample {index}, round {round}");
    let format = round.is_multiple_of(4).then(|| Format::ALL[random.below(Format::ALL.len())]);
    try_load(&broken, format, &context)
}

#[test]
fn broken_files_of_the_corpus_are_read_or_refused() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISONOMY_CORPUS").map_or(beside, Into::into);
    for (index, path) in [
        "c4/testcase/elle/tap-n.edn",
        "c4/testcase/dbcop/tap-n/history.bincode",
        "elle-cli/histories/elle/paper-example.json",
        "elle-cli/histories/jepsen/long-fork.edn",
        "awdit/tests/read-atomic/generated/l6e30sqrt.txt",
        "dbcop-verifier/histories/yaml/non_cc.yaml",
        "grail/rw-register/10.edn",
        "c4/bugs/yugabyte.txt",
    ]
    .into_iter()
    .enumerate()
    {
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        let sample = vec![(String::new(), bytes)];
        for round in 1..=300 {
            try_mutation(&sample, index + 100, round);
        }
    }
}
