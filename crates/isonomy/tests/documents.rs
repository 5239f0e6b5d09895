//! The documents name what there is.

use std::fs;
use std::path::Path;

use isonomy::{Format, IsolationLevel};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_crate_is_on_the_map() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is a map");
    for entry in fs::read_dir(root().join("crates")).expect("there are crates") {
        let name = entry.expect("it can be listed").file_name().into_string().expect("names are text");
        assert!(map.contains(&format!("`crates/{name}`")), "ARCHITECTURE.md does not mention crates/{name}");
    }
}

#[test]
fn the_readme_names_every_level_and_format() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    for name in IsolationLevel::ALL.map(IsolationLevel::name).into_iter().chain(Format::ALL.map(Format::name)) {
        assert!(readme.contains(&format!("`{name}`")), "README.md does not mention {name}");
    }
}
