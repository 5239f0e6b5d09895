//! explore
#![allow(clippy::print_stderr, reason = "x")]
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use isonomy_checker::certify::certify;
use isonomy_checker::{Anomaly, IsolationLevel as L, Options, Verdict, check};
use isonomy_history::History;
use isonomy_history::formats::{self, ReadOptions, Source};

fn load(path: &Path) -> Result<History, formats::ReadError> {
    let source = if path.is_dir() {
        let files = fs::read_dir(path).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let input: Box<dyn Read> = Box::new(File::open(entry.path()).unwrap());
            (entry.file_name().into_string().unwrap(), input)
        });
        Source::Directory(files.collect())
    } else {
        Source::Stream(Box::new(File::open(path).unwrap()))
    };
    formats::read(source, ReadOptions::default())
}
fn weak(h: &History) -> [Option<Anomaly>; 3] {
    [L::ReadCommitted, L::ReadAtomic, L::Causal].map(|level| {
        let v = check(h, level, &Options::default());
        certify(h, level, true, &v).unwrap();
        match v { Verdict::Holds(_) => None, Verdict::Violated(c) => { assert!(c.anomaly.rules_out(level)); Some(c.anomaly) }, _ => panic!() }
    })
}
fn walk(p: &Path, out: &mut Vec<std::path::PathBuf>) {
    let es: Vec<_> = fs::read_dir(p).unwrap().map(|e| e.unwrap().path()).collect();
    if es.iter().any(|p| p.file_name().unwrap().to_str().unwrap().strip_prefix(['T','J']).and_then(|r| r.strip_suffix(".log")).is_some_and(|d| d.parse::<u32>().is_ok())) { out.push(p.into()); return; }
    for e in es { if e.is_dir() { walk(&e, out) } else { out.push(e) } }
}
#[test]
fn explore() {
    let root = Path::new("/work/shared/corpus");
    let mut all = vec![]; walk(root, &mut all); all.sort();
    for p in all {
        match load(&p) {
            Ok(h) => {
                let [a,b,c] = weak(&h);
                let n = |a: Option<Anomaly>| a.map_or("ok".to_string(), |a| a.name().to_string());
                eprintln!("{} {} {} {}", p.strip_prefix(root).unwrap().display(), n(a), n(b), n(c));
            }
            Err(e) => eprintln!("{} ERROR {e}", p.strip_prefix(root).unwrap().display()),
        }
    }
}
