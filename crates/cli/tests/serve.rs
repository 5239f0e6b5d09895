//! `isonomy serve`, as a browser and as an attacker would use it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

struct Served {
    child: Child,
    url: String,
    folder: TempDir,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
        for name in ["lost-update.hist", "write-skew.hist"] {
            fs::copy(corpus.join(name), folder.path().join(name)).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_isonomy"))
            .args(["serve", "--address", "0", "--dir"])
            .arg(folder.path())
            .args(arguments)
            .env_remove("ISONOMY_TOKEN")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Served { child, url: url.trim().trim_end_matches('/').to_owned(), folder }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = agent().get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::from(request.call())
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = agent().post(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::from(request.send(body))
    }

    /// From a page of the server.
    fn submit(&self, path: &str, body: &str) -> Answer {
        self.post(path, &[("Origin", &self.url)], body.as_bytes())
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path, &[]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// The id of what has this name.
    fn id(&self, name: &str) -> String {
        let listed = self.json("/api/histories");
        let mut found = listed["histories"].as_array().unwrap().iter().filter(|entry| entry["name"] == name);
        found.next().unwrap_or_else(|| panic!("{name} is not in {listed}"))["id"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a job, and returns what the API tells of it.
    fn end_of(&self, page: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let job = self.json(&format!("/api{page}"));
            if job["lines"].is_array() {
                return job;
            }
            assert!(Instant::now() < deadline, "{job}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A test may have ended it: then its number may be somebody else's.
        if let Ok(None) = self.child.try_wait() {
            let pid = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
            let _ = self.child.wait();
        }
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into()
}

struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: String,
}

impl Answer {
    fn from(answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Self {
        let mut response = answered.unwrap();
        let headers = response.headers().clone();
        let body = response.body_mut().read_to_vec().unwrap();
        Answer { status: response.status().as_u16(), headers, body: String::from_utf8_lossy(&body).into_owned() }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

#[test]
fn what_is_there_is_listed() {
    let served = Served::start(&[]);
    let home = served.get("/", &[]);
    assert_eq!(home.status, 200);
    for word in ["lost-update.hist", "write-skew.hist", "Upload", "New run"] {
        assert!(home.body.contains(word), "{word}: {}", home.body);
    }
    let policy = home.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    assert!(!home.body.contains("style=") && !home.body.contains("<script>"));
    for asset in ["isonomy.css", "exhibit.js", "app.js", "icon.svg"] {
        assert_eq!(served.get(&format!("/assets/{asset}"), &[]).status, 200, "{asset}");
    }
    let id = served.id("lost-update.hist");
    let page = served.get(&format!("/histories/{id}"), &[]);
    assert!(page.status == 200 && page.body.contains("serializable"), "{}", page.body);
    assert!(served.get("/runs/new", &[]).body.contains("mock:"));
}

#[test]
fn nothing_else_can_be_read() {
    let served = Served::start(&[]);
    let secret = tempfile::tempdir().unwrap();
    let hidden = secret.path().join("secret.hist");
    fs::copy(served.folder.path().join("lost-update.hist"), &hidden).unwrap();
    std::os::unix::fs::symlink(&hidden, served.folder.path().join("link.hist")).unwrap();
    assert!(!served.get("/api/histories", &[]).body.contains("link.hist"));
    for path in [
        "/histories/..",
        "/histories/..%2f..%2fetc%2fpasswd",
        "/histories/%2fetc%2fpasswd/file",
        "/histories/lost-update.hist",
        "/assets/..%2f..%2fCargo.toml",
        "/histories/%252e%252e%252fetc%252fpasswd",
        "/histories/..%5c..%5cetc%5cpasswd/file",
        "/histories/%00/file",
        "/assets/%2e%2e/histories",
        "/jobs/1/files/..%2fverdicts.jsonl",
        "/jobs/99",
        "/jobs/x",
    ] {
        let answer = served.get(path, &[]);
        assert!([400, 404].contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
    }
    // What becomes a link after it was listed.
    let (id, path) = (served.id("write-skew.hist"), served.folder.path().join("write-skew.hist"));
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&hidden, &path).unwrap();
    for part in ["", "/file", "/statistics", "/transactions"] {
        assert_eq!(served.get(&format!("/histories/{id}{part}"), &[]).status, 404, "{part}");
    }
    assert_eq!(served.submit(&format!("/histories/{id}/check"), "").status, 404);
}

#[test]
fn browsers_are_told_what_pages_may_do() {
    let served = Served::start(&[]);
    let id = served.id("lost-update.hist");
    let transactions = format!("/histories/{id}/transactions");
    let file = format!("/histories/{id}/file");
    for path in ["/", "/nothing", "/assets/app.js", "/assets/nothing", "/api/jobs", "/jobs/9", &transactions, &file] {
        let answer = served.get(path, &[]);
        let policy = answer.header("content-security-policy");
        for word in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(word), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
    }
    assert_eq!(served.get("/", &[("Host", "evil.example")]).header("x-content-type-options"), "nosniff");
    assert_eq!(served.get(&file, &[]).header("content-type"), "application/octet-stream");
}

#[test]
fn a_check_tells_verdicts_and_shows_why() {
    let served = Served::start(&[]);
    let id = served.id("lost-update.hist");
    let started = served.submit(&format!("/histories/{id}/check"), "level=snapshot-isolation&level=read-committed");
    assert_eq!(started.status, 303, "{}", started.body);
    let page = started.header("location").to_owned();
    let job = served.end_of(&page);
    assert_eq!(job["progress"]["state"]["ended"], 1, "{job}");
    let lines = job["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().any(|line| line["verdict"] == "violated" && line["anomaly"] == "lost-update"), "{job}");
    let shown = served.get(&page, &[]);
    for word in ["class=\"exhibit\"", "lost-update", "/files/why.svg", "/files/certificate.jsonl", "application/json"] {
        assert!(shown.body.contains(word), "{word}: {}", shown.body);
    }
    for (name, word) in [
        ("verdicts.jsonl", "lost-update"),
        ("page.html", "<!doctype html>"),
        ("why.svg", "<svg "),
        ("certificate.jsonl", "{"),
    ] {
        let file = served.get(&format!("{page}/files/{name}"), &[]);
        assert!(file.status == 200 && file.body.contains(word), "{name}");
        assert!(file.header("content-disposition").starts_with("attachment"), "{name}");
    }
    let events = served.get(&format!("{page}/events"), &[]);
    assert!(events.header("content-type").starts_with("text/event-stream") && events.body.starts_with("data: {"));
    // The list and a comparison know it now.
    assert!(served.get("/", &[]).body.contains("snapshot-isolation violated: lost-update"));
    let other = served.id("write-skew.hist");
    let compared = served.get(&format!("/compare?id={id}&id={other}"), &[]);
    assert!(compared.status == 200 && compared.body.contains("lost-update"), "{}", compared.body);
    assert_eq!(served.get(&format!("/compare?id={id}"), &[]).status, 400);
    assert_eq!(served.submit(&format!("/histories/{id}/check"), "level=nonsense").status, 400);
}

#[test]
fn each_violated_level_has_a_counterexample_of_its_own() {
    let served = Served::start(&[]);
    // What violates causal is not what violates adya-si, which does not know sessions.
    let path = served.folder.path().join("two.hist");
    fs::write(&path, "s1: [w(x,1)] [r(x,_)]\ns2: [r(y,_) w(y,1)]\ns3: [r(y,_) w(y,2)]\n").unwrap();
    let id = served.id("two.hist");
    let levels = "level=read-committed&level=causal&level=adya-si";
    let started = served.submit(&format!("/histories/{id}/check"), levels);
    let page = started.header("location").to_owned();
    served.end_of(&page);
    let exhibit =
        |answer: &Answer| answer.body.split_once("<article").map_or(String::new(), |(_, rest)| rest.to_owned());
    let shown = served.get(&page, &[]);
    assert!(exhibit(&shown).contains("session-guarantee-violation") && !exhibit(&shown).contains("lost-update"));
    let link = format!("{page}?level=adya-si#why");
    for body in [&shown.body, &served.get(&format!("/histories/{id}"), &[]).body] {
        assert!(body.contains(&link) && body.contains("Show why adya-si is violated"), "{body}");
    }
    let other = served.get(&format!("{page}?level=adya-si"), &[]);
    assert!(other.status == 200 && exhibit(&other).contains("lost-update"), "{}", other.body);
    assert!(other.body.contains("Why adya-si is violated"));
    assert_eq!(served.get(&format!("{page}?level=nonsense"), &[]).status, 400);
    assert_eq!(served.get(&format!("{page}?level=read-committed"), &[]).status, 409);
    // What was found of one file says nothing of another one in its place.
    fs::write(&path, "s1: [w(x,1)] [r(x,1)]\ns2: [r(y,_) w(y,1)]\ns3: [r(y,1) w(y,2)]\n").unwrap();
    let changed = served.get(&format!("{page}?level=adya-si"), &[]);
    assert!(changed.status == 409 && changed.body.contains("check it again"), "{}", changed.body);
    assert!(!served.get("/", &[]).body.contains("causal violated"));
}

#[test]
fn two_are_compared() {
    let served = Served::start(&[]);
    for (name, count) in [("few.jsonl", 10), ("many.jsonl", 40)] {
        let line = |n: i64| {
            let (start, finish) = (n * 1_000_000, n * 1_000_000 + 500_000);
            format!("{{\"session\":0,\"start\":{start},\"finish\":{finish},\"ops\":[[\"w\",\"x\",{n}]]}}\n")
        };
        fs::write(served.folder.path().join(name), (0..count).map(line).collect::<String>()).unwrap();
    }
    let (few, many) = (served.id("few.jsonl"), served.id("many.jsonl"));
    let numbers = served.get(&format!("/compare/numbers?id={few}&id={many}"), &[]);
    assert_eq!(numbers.status, 200, "{}", numbers.body);
    for word in [">4.00</td>", "latency, half within", "500 µs", "None aborted."] {
        assert!(numbers.body.contains(word), "{word}: {}", numbers.body);
    }
    // Both plots have the axes of the longer one.
    assert_eq!(numbers.body.matches(">39.5 ms</text>").count(), 2, "{}", numbers.body);
    assert_eq!(served.get(&format!("/compare/numbers?id={few}"), &[]).status, 400);
}

#[test]
fn transactions_come_in_slices() {
    let served = Served::start(&[]);
    let lines: String =
        (0..500).map(|n| format!("{{\"session\":{},\"ops\":[[\"w\",\"k{}\",{n}]]}}\n", n % 5, n % 7)).collect();
    fs::write(served.folder.path().join("many.jsonl"), lines).unwrap();
    let id = served.id("many.jsonl");
    let ask = |query: &str| served.json(&format!("/api/histories/{id}/transactions?{query}"));
    let all = ask("offset=490&limit=50");
    assert_eq!((all["total"].as_u64(), all["transactions"].as_array().unwrap().len()), (Some(500), 10));
    let one = ask("session=3&limit=1000");
    assert_eq!((one["total"].as_u64(), one["transactions"].as_array().unwrap().len()), (Some(100), 100));
    assert!(ask("key=k2")["transactions"].as_array().unwrap().iter().all(|row| row.to_string().contains("k2")));
    assert_eq!(ask("key=none")["total"], 0);
    assert_eq!(served.get(&format!("/api/histories/{id}/transactions?offset=x"), &[]).status, 400);
    assert!(served.get(&format!("/histories/{id}/statistics"), &[]).body.contains("500"));
}

#[test]
fn uploads_have_a_limit() {
    let served = Served::start(&["--upload-limit", "2K"]);
    let upload = |name: &str, body: &[u8]| served.post(&format!("/uploads?name={name}"), &[("X-Isonomy", "1")], body);
    let history = b"{\"session\":0,\"ops\":[[\"w\",\"x\",1]]}\n";
    let taken = upload("..%2F..%2Fmine.jsonl", history);
    assert_eq!(taken.status, 200, "{}", taken.body);
    assert!(served.get("/api/histories", &[]).body.contains("\"mine.jsonl\""));
    assert_eq!(upload("large.jsonl", &history.repeat(100)).status, 413);
    // Without saying how much will come.
    let chunked = agent()
        .post(format!("{}/uploads?name=large.jsonl", served.url))
        .header("X-Isonomy", "1")
        .send(ureq::SendBody::from_reader(&mut &history.repeat(100)[..]));
    assert_eq!(Answer::from(chunked).status, 413);
    assert_eq!(upload("nonsense.jsonl", b"\x00\x01\x02 no history").status, 422);
    assert!(!served.get("/api/histories", &[]).body.contains("large"));
}

#[test]
fn others_cannot_make_it_do_things() {
    let served = Served::start(&[]);
    let path = format!("/histories/{}/check", served.id("lost-update.hist"));
    for host in ["evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", "0.0.0.0"] {
        assert_eq!(served.get("/", &[("Host", host)]).status, 421, "{host}");
        assert_eq!(served.post(&path, &[("Host", host), ("Origin", &format!("http://{host}"))], b"").status, 421);
    }
    assert_eq!(served.post(&path, &[], b"").status, 403);
    assert_eq!(served.post(&path, &[("Origin", "http://evil.example")], b"").status, 403);
    assert_eq!(served.post(&path, &[("Origin", "null"), ("X-Isonomy", "1")], b"").status, 403);
    assert_eq!(served.post("/uploads?name=x", &[("Origin", "http://evil.example")], b"{}").status, 403);
    let of_a_page = [("Origin", served.url.as_str()), ("Sec-Fetch-Site", "cross-site")];
    assert_eq!(served.post(&path, &of_a_page, b"").status, 403);
    // A form of somebody else, as browsers send it.
    let typed = [("Origin", "http://localhost:1"), ("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(served.post("/runs", &typed, b"db=mock:causal").status, 403);
    // Looking at something changes nothing.
    assert_eq!(served.get(&path, &[]).status, 405);
    assert!(served.json("/api/jobs")["jobs"].as_array().unwrap().is_empty());
}

#[test]
fn a_token_is_wanted_if_there_is_one() {
    let served = Served::start(&["--token", "open sesame"]);
    assert_eq!(served.get("/", &[]).status, 401);
    assert_eq!(served.get("/api/histories", &[]).status, 401);
    assert_eq!(served.get("/api/histories", &[("Authorization", "Bearer open")]).status, 401);
    assert_eq!(served.get("/api/histories", &[("Authorization", "Bearer open sesame")]).status, 200);
    assert_eq!(served.submit("/login", "token=wrong").status, 401);
    assert_eq!(served.post("/login", &[("Origin", "http://evil.example")], b"token=open+sesame").status, 403);
    for path in ["/jobs/1", "/compare", "/runs/new", "/login/../api/jobs", "//api/jobs"] {
        assert_eq!(served.get(path, &[]).status, 401, "{path}");
    }
    assert_eq!(served.get("/assets/../api/jobs", &[]).status, 404);
    assert_eq!(served.get("/assets/app.js", &[]).status, 200);
    let let_in = served.submit("/login", "token=open+sesame");
    assert_eq!(let_in.status, 303);
    let cookie = let_in.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("sesame"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(served.get("/", &[("Cookie", cookie)]).status, 200);
    assert_eq!(served.get("/", &[("Cookie", "isonomy=open sesame")]).status, 401);
    assert_eq!(served.get("/", &[("Cookie", "isonomy=")]).status, 401);
    // The cookie is not enough for a page of somebody else.
    let foreign = [("Cookie", cookie), ("Origin", "http://evil.example")];
    assert_eq!(served.post("/runs", &foreign, b"db=mock:causal").status, 403);
}

#[test]
fn a_run_is_started_stopped_and_kept() {
    let served = Served::start(&[]);
    let started = served.submit("/runs", "db=mock:read-atomic&level=causal&sessions=4&duration=60");
    assert_eq!(started.status, 303, "{}", started.body);
    let page = started.header("location").to_owned();
    let deadline = Instant::now() + Duration::from_secs(30);
    while served.json(&format!("/api{page}"))["progress"]["done"] == 0 {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(served.submit(&format!("{page}/stop"), "").status, 303);
    let job = served.end_of(&page);
    assert!(job["progress"]["state"]["ended"].is_number(), "what was recorded is checked: {job}");
    assert_eq!(job["lines"][0]["end"], "interrupted", "{job}");
    let id = served.id("runs/seed-4");
    let shown = served.get(&page, &[]).body;
    for word in [&id, "Why causal is violated", "class=\"exhibit\"", "Show why serializable is violated"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let kept = served.get(&format!("/histories/{id}"), &[]).body;
    for word in ["interrupted", "commits per second", "Show why causal is violated"] {
        assert!(kept.contains(word), "{word}: {kept}");
    }
    // What that button does.
    let why = served.submit(&format!("/histories/{id}/check"), "level=causal");
    served.end_of(why.header("location"));
    assert!(served.get(why.header("location"), &[]).body.contains("Why causal is violated"));
    // A check of one level does not hide what the run says of the others.
    let home = served.get("/", &[]).body;
    assert!(home.contains("read-atomic holds") && home.contains("causal violated"), "{home}");
    assert_eq!(served.submit("/runs", "db=mock:causal&workload=nonsense").status, 400);
}

#[test]
fn jobs_have_a_limit_and_can_be_stopped() {
    let served = Served::start(&[]);
    let run = || served.submit("/runs", "db=mock:causal&duration=60");
    let first = run();
    assert_eq!((first.status, run().status, run().status), (303, 303, 429));
    let page = first.header("location").to_owned();
    served.submit(&format!("{page}/stop"), "");
    served.submit(&format!("{page}/stop"), "");
    served.end_of(&page);
    assert_eq!(run().status, 303);
}

/// The processes that a process has started, without those that only wait to be noticed.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<u32> {
    let told = |process: fs::DirEntry| {
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let mut rest = stat.rsplit_once(") ")?.1.split(' ');
        let (state, parent) = (rest.next()?, rest.next()?.parse::<u32>().ok()?);
        (state != "Z" && parent == of).then(|| process.file_name().to_str()?.parse().ok()).flatten()
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(told).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn jobs_end_with_a_server_that_is_killed() {
    let mut served = Served::start(&[]);
    let started = served.submit("/runs", "db=sqlite&duration=600");
    assert_eq!(started.status, 303, "{}", started.body);
    let jobs = children(served.child.id());
    assert_eq!(jobs.len(), 1);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let is_there = || fs::read_to_string(format!("/proc/{}/stat", jobs[0])).is_ok_and(|stat| !stat.contains(") Z "));
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_there() {
        assert!(Instant::now() < deadline, "the run goes on");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn programs_are_told_the_progress_in_lines() {
    let history = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/lost-update.hist");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isonomy"));
    let ran = command.args(["check", "--json"]).arg(history).env("ISONOMY_PROGRESS", "lines").output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line["doing"].is_string() && line["done"].is_u64()), "{said}");
}

#[test]
fn other_machines_need_a_token() {
    let try_it = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isonomy"));
        let ran =
            command.args(["serve", "--address", "0.0.0.0:0"]).args(arguments).env_remove("ISONOMY_TOKEN").output();
        let ran = ran.unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, said) = try_it(&[]);
    assert!(code == Some(2) && said.contains("--expose"), "{said}");
    let (code, said) = try_it(&["--expose"]);
    assert!(code == Some(2) && said.contains("ISONOMY_TOKEN"), "{said}");
    let (code, said) = try_it(&["--expose", "--token", "t", "--dir", "/nowhere/at/all"]);
    assert!(code == Some(2), "{said}");
}
