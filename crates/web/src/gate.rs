//! Who is let in, and to what.
//!
//! - **Host.** A page of somebody else can make its own name lead to this machine, and would then be of the same origin as we are. On loopback
//!   only names of loopback are answered. An exposed server has names that it cannot know; there the token protects, which is kept in a
//!   cookie of the name under which it was given.
//! - **Token.** `Authorization: Bearer …`, or the cookie that the login page sets. Compared in constant time.
//! - **Origin.** What changes something must come from a page of ours: browsers say so in `Origin`, and a page of somebody else cannot lie
//!   there. Programs that send no `Origin` say that they mean it by `Authorization: Bearer …` or by the header `X-Isonomy`, neither of which
//!   a foreign page can add without asking first, which is refused.

use std::net::IpAddr;

use crate::secret::{Token, name};
use axum::http::{HeaderMap, Method, header};

/// The cookie.
const COOKIE: &str = "isonomy";

/// What decides.
#[derive(Debug)]
pub(crate) struct Gate {
    token: Option<Token>,
    /// What the cookie holds: known to nobody who does not know the token, and of no use after a restart.
    pass: Token,
    cookie: String,
    /// Whether other machines can reach us.
    exposed: bool,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Host,
    Token,
    Origin,
}

impl Gate {
    pub(crate) fn new(token: Option<Token>, address: IpAddr) -> Self {
        let pass = name();
        let cookie = format!("{COOKIE}={pass}; Path=/; HttpOnly; SameSite=Strict");
        Gate { token, pass: Token::new(&pass), cookie, exposed: !address.is_loopback() }
    }

    /// Whether a request may go on. Assets and the login page need no token.
    pub(crate) fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refused> {
        let host = text(headers, header::HOST.as_str()).unwrap_or_default();
        if !self.exposed && !is_loopback(host) {
            return Err(Refused::Host);
        }
        let bearer = text(headers, header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
        let by_bearer = match (&self.token, bearer) {
            (Some(token), Some(given)) => token.is(given.trim()),
            _ => false,
        };
        let open = path == "/login" || path.starts_with("/assets/");
        if self.token.is_some() && !open && !by_bearer && !self.has_cookie(headers) {
            return Err(Refused::Token);
        }
        let reads = method == Method::GET || method == Method::HEAD;
        if !reads && !by_bearer && !is_our_own(host, headers) {
            return Err(Refused::Origin);
        }
        Ok(())
    }

    /// The cookie for whoever knows the token.
    pub(crate) fn admit(&self, given: &str) -> Option<&str> {
        self.token.as_ref().filter(|token| token.is(given)).map(|_| self.cookie.as_str())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        cookies.any(|(name, value)| name == COOKIE && self.pass.is(value))
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a request comes from a page of ours, or from a program that means it.
fn is_our_own(host: &str, headers: &HeaderMap) -> bool {
    if text(headers, "sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return false;
    }
    match text(headers, header::ORIGIN.as_str()) {
        Some(origin) => origin.split_once("://").is_some_and(|(_, of)| of == host),
        None => headers.contains_key("x-isonomy"),
    }
}

/// Whether a `Host` is a name of this machine for itself.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn check(gate: &Gate, method: &Method, path: &str, pairs: &[(&'static str, &str)]) -> Result<(), Refused> {
        gate.check(method, path, &headers(pairs))
    }

    #[test]
    fn names_of_this_machine() {
        for good in ["localhost:1", "LOCALHOST", "127.0.0.1:8765", "127.1.2.3:1", "[::1]:8765", "[::1]"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in ["", "evil.example:8765", "localhost.evil.example", "10.0.0.1:1", "[::2]:1", "0.0.0.0:1"] {
            assert!(!is_loopback(bad), "{bad}");
        }
    }

    #[test]
    fn changes_come_from_our_own_pages() {
        let gate = Gate::new(None, "127.0.0.1".parse().unwrap());
        let host = ("host", "localhost:1");
        let post = |more: &[(&'static str, &str)]| check(&gate, &Method::POST, "/runs", &[&[host][..], more].concat());
        assert_eq!(check(&gate, &Method::GET, "/", &[host]), Ok(()));
        assert_eq!(check(&gate, &Method::GET, "/", &[("host", "evil.example")]), Err(Refused::Host));
        assert_eq!(post(&[]), Err(Refused::Origin));
        assert_eq!(post(&[("origin", "http://localhost:1")]), Ok(()));
        assert_eq!(post(&[("origin", "http://localhost:2")]), Err(Refused::Origin));
        assert_eq!(post(&[("origin", "null"), ("x-isonomy", "1")]), Err(Refused::Origin));
        assert_eq!(post(&[("x-isonomy", "1")]), Ok(()));
        assert_eq!(post(&[("x-isonomy", "1"), ("sec-fetch-site", "cross-site")]), Err(Refused::Origin));
    }

    #[test]
    fn tokens_are_wanted() {
        let gate = Gate::new(Some(Token::new("secret")), "0.0.0.0".parse().unwrap());
        let host = ("host", "box.lan:1");
        let get = |more: &[(&'static str, &str)]| check(&gate, &Method::GET, "/", &[&[host][..], more].concat());
        assert_eq!(get(&[]), Err(Refused::Token));
        assert_eq!(get(&[("authorization", "Bearer wrong")]), Err(Refused::Token));
        assert_eq!(get(&[("authorization", "Bearer secret")]), Ok(()));
        assert_eq!(get(&[("cookie", "isonomy=secret")]), Err(Refused::Token));
        assert_eq!(check(&gate, &Method::GET, "/login", &[host]), Ok(()));
        assert_eq!(check(&gate, &Method::POST, "/runs", &[host, ("authorization", "Bearer secret")]), Ok(()));
        assert!(gate.admit("wrong").is_none());
        let cookie = gate.admit("secret").unwrap().split(';').next().unwrap().to_owned();
        assert_eq!(get(&[("cookie", &format!("a=b; {cookie}"))]), Ok(()));
    }
}
