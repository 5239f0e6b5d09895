//! A server of one or more nodes.

use std::path::Path;

use crate::error::Error;
use crate::folder::Folder;
use crate::kind::Kind;
use crate::node::Node;

/// A running server of one or more nodes. Dropping it ends all processes and removes all files.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    // In this order: the folder goes after those who write to it.
    nodes: Vec<Node>,
    folder: Folder,
}

impl Server {
    /// Starts one, and waits until all of its nodes are ready.
    pub fn start(kind: Kind) -> Result<Self, Error> {
        let folder = Folder::new(kind.name())?;
        let nodes = kind.start(&folder)?;
        assert!(!nodes.is_empty(), "a server has nodes");
        Ok(Server { kind, nodes, folder })
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where clients reach its nodes, in order.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.url().to_owned()).collect()
    }

    /// Where its files are, logs among them, as long as it lives.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
