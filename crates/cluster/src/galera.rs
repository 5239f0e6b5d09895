//! MariaDB with Galera: three nodes on one machine, all of which take writes.
//!
//! Nodes of one machine share an address, so everything that a node listens to has to be given a port: clients, the group (`gmcast`),
//! and both ways to catch up, the short (`ist`) and the long (`sst`).

use crate::error::Error;
use crate::folder::Folder;
use crate::mariadb::{Settings, welcome};
use crate::node::Node;
use crate::ports::free_port;
use crate::programs::{find, find_file};

const NODES: usize = 3;

pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    let provider = find_file("/usr/lib/galera/libgalera_smm.so", "galera-4")?;
    // The script that copies a node's data calls it by name.
    find("rsync", "rsync")?;
    let group: Vec<u16> = (0..NODES).map(|_| free_port()).collect();
    let members: Vec<String> = group.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let members = members.join(",");
    let mut nodes = Vec::new();
    for (number, port) in group.iter().enumerate() {
        let (short, long) = (free_port(), free_port());
        let node = Settings {
            name: format!("galera{}", number + 1),
            initialise: number == 0,
            arguments: vec![
                "--binlog-format=ROW".into(),
                "--innodb-autoinc-lock-mode=2".into(),
                "--wsrep-on=ON".into(),
                format!("--wsrep-provider={}", provider.display()),
                format!("--wsrep-cluster-address=gcomm://{members}"),
                "--wsrep-sst-method=rsync".into(),
                "--wsrep-node-address=127.0.0.1".into(),
                format!("--wsrep-node-name=galera{}", number + 1),
                format!("--wsrep-sst-receive-address=127.0.0.1:{long}"),
                format!(
                    "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{port};ist.recv_addr=127.0.0.1:{short};\
                     gcache.size=32M"
                ),
            ],
            // The others find the first; when the first comes back, it finds the others.
            first: if number == 0 { vec!["--wsrep-new-cluster".into()] } else { Vec::new() },
            ready: Some(("SHOW STATUS LIKE 'wsrep_local_state_comment'", "Synced")),
        }
        .start(folder)?;
        if number == 0 {
            welcome(folder, &node)?;
        }
        nodes.push(node);
    }
    Ok(nodes)
}
