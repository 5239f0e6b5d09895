//! `isonomy mock`: the mock store.

pub(crate) mod bench;
