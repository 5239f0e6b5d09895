//! Clients that misbehave, die, or are many: nobody else may notice.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use isonomy_store::Options;
use isonomy_wire::Limits;
use isonomy_workload::Rng;
use support::raw::{Raw, exchange, kinds, message, startup};
use support::{Running, newest, start, start_with};

/// Whether the server still does its work, for all protocols, and has forgotten all others.
#[track_caller]
fn is_well(running: &Running) {
    let mut raw = Raw::start(running.postgres());
    assert_eq!(kinds(&raw.query("SELECT 1")), "TDCZ");
    let mut mysql = TcpStream::connect(running.mysql()).unwrap();
    let mut head = [0; 5];
    mysql.read_exact(&mut head).unwrap();
    assert_eq!(head[4], 10, "the version of the protocol comes first");
    let about = exchange(running.http(), b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(about.starts_with(b"HTTP/1.1 200"));
    drop((raw, mysql));
    running.wait_for_clients(0);
}

fn all(running: &Running) -> [SocketAddr; 3] {
    [running.postgres(), running.mysql(), running.http()]
}

#[test]
fn random_bytes() {
    let running = start();
    let mut rng = Rng::new(1);
    for round in 0..300 {
        let bytes: Vec<u8> = (0..rng.below(300)).map(|_| rng.bits() as u8).collect();
        exchange(all(&running)[round % 3], &bytes);
    }
    is_well(&running);
}

/// Random bytes from a client that was let in.
#[test]
fn random_messages() {
    let running = start();
    let mut rng = Rng::new(2);
    for _ in 0..100 {
        let mut raw = Raw::start(running.postgres());
        for _ in 0..20 {
            let kind = b"QPBDECHSFdcfpX?"[rng.below(15) as usize];
            let body: Vec<u8> =
                (0..rng.below(40)).map(|_| if rng.chance(0.5) { 0 } else { rng.bits() as u8 }).collect();
            if raw.0.write_all(&message(kind, &body)).is_err() {
                break;
            }
        }
    }
    for _ in 0..100 {
        let mut bytes = mysql_login();
        for _ in 0..20 {
            let command = rng.below(0x20) as u8;
            let body: Vec<u8> =
                (0..rng.below(40)).map(|_| if rng.chance(0.5) { 0 } else { rng.bits() as u8 }).collect();
            bytes.extend(mysql_packet(0, &[&[command], &body[..]].concat()));
        }
        exchange(running.mysql(), &bytes);
    }
    is_well(&running);
}

fn mysql_packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&[a, b, c, number], payload].concat()
}

/// What a client sends who wants to be let in.
fn mysql_login() -> Vec<u8> {
    let capabilities: u32 = 1 << 9 | 1 << 15;
    mysql_packet(1, &[&capabilities.to_le_bytes(), &[0; 4][..], &[45], &[0; 23], b"tester\0", &[0]].concat())
}

#[test]
fn beginnings_that_end_early() {
    let running = start();
    let whole = startup(196_608, b"user\0tester\0\0");
    for length in 0..whole.len() {
        exchange(running.postgres(), &whole[..length]);
    }
    let login = mysql_login();
    for length in 0..login.len() {
        exchange(running.mysql(), &login[..length]);
    }
    let request = b"POST /transactions HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{}";
    for length in 0..request.len() {
        exchange(running.http(), &request[..length]);
    }
    is_well(&running);
}

#[test]
fn odd_startups_have_an_answer() {
    let running = start();
    let told = |bytes: &[u8]| String::from_utf8_lossy(&exchange(running.postgres(), bytes)).into_owned();
    // No encryption of either kind, then plain text.
    let both = [startup(80_877_103, &[]), startup(80_877_104, &[]), startup(196_608, b"user\0a\0\0")].concat();
    assert!(told(&both).starts_with("NNR"));
    assert_eq!(told(&startup(80_877_102, &[0; 8])), "", "there is nothing to cancel");
    assert!(told(&startup(131_072, b"user\0a\0\0")).contains("0A000"), "version 2 is not spoken");
    assert!(told(&startup(196_610, b"user\0a\0_pq_.x\0y\0\0")).contains("_pq_.x"), "newer ones are told what is");
    assert!(told(&startup(196_608, b"database\0a\0\0")).contains("28000"), "everybody has a name");
    assert!(told(&startup(196_608, b"user\0a")).contains("08P01"));
    assert!(told(&startup(196_608, b"user\0a\0options\0-z\0\0")).contains("42601"));
    is_well(&running);
}

#[test]
fn announced_lengths_are_not_believed() {
    let running = start();
    let began = Instant::now();
    for length in [-1, 0, 3, 10_009, i32::MAX, i32::MIN] {
        exchange(running.postgres(), &[&length.to_be_bytes()[..], &196_608_i32.to_be_bytes()].concat());
    }
    for length in [-1, 0, 3, 60_000_000, 1_000_000_000, i32::MAX, i32::MIN] {
        for _ in 0..20 {
            let mut raw = Raw::start(running.postgres());
            raw.0.write_all(&[&b"Q"[..], &length.to_be_bytes(), b"SELECT"].concat()).unwrap();
        }
    }
    for _ in 0..20 {
        exchange(running.mysql(), &[&mysql_login()[..], &[0xff, 0xff, 0xff, 0], b"\x03SELECT"].concat());
    }
    for length in ["99999999999999", "-1", "18446744073709551616", "x"] {
        let request = format!("POST /sessions/x/read HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{{}}");
        exchange(running.http(), request.as_bytes());
    }
    assert!(began.elapsed() < Duration::from_secs(20));
    is_well(&running);
}

#[test]
fn garbage_over_http_has_an_answer() {
    let running = start();
    for (request, status) in [
        (&b"GARBAGE\r\n\r\n"[..], "400"),
        (b"GET / HTTP/9.9\r\n\r\n", "400"),
        (
            b"POST /transactions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
            "400",
        ),
        (b"DELETE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405"),
        (b"GET /sessions/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "40"),
        (b"DELETE /sessions/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "40"),
    ] {
        let answer = String::from_utf8_lossy(&exchange(running.http(), request)).into_owned();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    let long = [b"GET /", "x".repeat(1 << 20).as_bytes(), b" HTTP/1.1\r\n\r\n"].concat();
    exchange(running.http(), &long);
    is_well(&running);
}

#[test]
fn clients_that_never_introduce_themselves_are_shown_out() {
    let limits = Limits { handshake: Duration::from_millis(300), ..Limits::default() };
    let running = start_with(newest(), limits, None);
    for (address, start) in [
        (running.postgres(), &b""[..]),
        (running.postgres(), &[0, 0, 0, 50, 0, 3, 0, 0, b'u']),
        (running.mysql(), b""),
        (running.mysql(), &[50, 0, 0, 1, 1]),
        (running.http(), b"GET / HTTP/1.1\r\nHost: "),
    ] {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.write_all(start).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).expect("the server closes it");
    }
    // A byte now and then does not help.
    let mut slow = TcpStream::connect(running.postgres()).unwrap();
    let began = Instant::now();
    while slow.write_all(&[0]).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(50));
    }
    // Whoever is in may be silent for as long as it wants.
    let mut raw = Raw::start(running.postgres());
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(kinds(&raw.query("SELECT 1")), "TDCZ");
    drop(raw);
    is_well(&running);
}

#[test]
fn a_client_that_dies_in_a_transaction_holds_nobody_up() {
    let running = start_with(Options { patience: Duration::from_secs(20), ..newest() }, Limits::default(), None);
    Raw::start(running.postgres()).query("CREATE TABLE t (id int PRIMARY KEY, v int)");
    for round in 0..5 {
        let mut dying = Raw::start(running.postgres());
        let messages = dying.query(&format!("BEGIN; INSERT INTO t VALUES ({round}, 1)"));
        assert_eq!(kinds(&messages), "CCZ");
        assert_eq!(messages[2].1, b"T");
        let began = Instant::now();
        drop(dying);
        let mut other = Raw::start(running.postgres());
        let messages = other.query("SELECT count(*) FROM t");
        assert_eq!(kinds(&messages), "TDCZ");
        assert!(messages[1].1.ends_with(b"0"), "what was not committed is not there: {messages:?}");
        assert!(began.elapsed() < Duration::from_secs(5), "it need not be waited for");
    }
    is_well(&running);
}

#[test]
fn a_thousand_connections() {
    allow_many_files();
    let running = start();
    let mut clients: Vec<Raw> = (0..1000).map(|_| Raw::start(running.postgres())).collect();
    assert_eq!(running.server.counts().open, 1000);
    for client in &mut clients {
        client.send(b'Q', b"SELECT 1\0");
    }
    for client in &mut clients {
        assert_eq!(kinds(&client.until_ready()), "TDCZ");
    }
    drop(clients);
    running.wait_for_clients(0);
    assert_eq!(running.server.counts().total, 1000);
    is_well(&running);
}

fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum.map(|most| most.min(8192)).or(Some(8192));
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[test]
fn one_too_many_is_told_so() {
    let running = start_with(newest(), Limits { connections: 2, ..Limits::default() }, None);
    let (first, second) = (Raw::start(running.postgres()), Raw::start(running.postgres()));
    let mut third = Raw::connect(running.postgres());
    third.0.write_all(&startup(196_608, b"user\0a\0\0")).unwrap();
    let (kind, body) = third.receive().expect("it is told");
    assert!(kind == 'E' && String::from_utf8_lossy(&body).contains("53300"), "{body:?}");
    let waiting = [0; 2].map(|_| TcpStream::connect(running.mysql()).unwrap());
    running.wait_for_clients(4);
    let told = exchange(running.mysql(), b"");
    assert!(String::from_utf8_lossy(&told).contains("too many connections"), "{told:?}");
    drop((first, second, waiting));
    running.wait_for_clients(0);
    Raw::start(running.postgres());
}

#[test]
fn large_statements_and_too_large_ones() {
    let running = start_with(newest(), Limits { statement: 2 << 20, ..Limits::default() }, None);
    let mut raw = Raw::start(running.postgres());
    let sql = |length: usize| format!("SELECT '{}'", "x".repeat(length));
    let messages = raw.query(&sql(1 << 20));
    assert_eq!(kinds(&messages), "TDCZ");
    assert_eq!(messages[1].1.len(), 2 + 4 + (1 << 20));
    let messages = raw.query(&sql(3 << 20));
    assert_eq!(kinds(&messages), "EZ");
    assert!(String::from_utf8_lossy(&messages[0].1).contains("54000"));
    assert_eq!(kinds(&raw.query("SELECT 1")), "TDCZ", "it goes on");
    drop(raw);
    is_well(&running);
}

#[test]
fn the_end_of_the_server_is_the_end_of_all() {
    let mut running = start();
    let mut raw = Raw::start(running.postgres());
    raw.query("BEGIN");
    let mut waiting = Raw::start(running.postgres());
    waiting.send(b'Q', b"BEGIN; SELECT 1\0");
    let mut silent = TcpStream::connect(running.mysql()).unwrap();
    running.wait_for_clients(3);
    let (postgres, began) = (running.postgres(), Instant::now());
    running.server.stop();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(running.server.counts().open, 0);
    assert!(raw.receive().is_none());
    let mut rest = Vec::new();
    silent.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    silent.read_to_end(&mut rest).expect("it is closed");
    assert!(TcpStream::connect(postgres).is_err(), "nobody listens any more");
}
