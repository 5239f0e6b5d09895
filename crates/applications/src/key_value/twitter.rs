//! Twitter: users tweet, follow each other and read.
//!
//! `tweets:<u>` holds a user's tweets, `following:<u>` whom a user follows. After figure 4.9 of the thesis. All sessions but the last are of one user, who mostly
//! reads; the last is of another, who mostly tweets, and whom the first follows unless that is changed.
//!
//! The reader sees a tweet in one session and expects it in the newsfeed of another one, as long as the author is followed. That speaks
//! of time: a store that is serializable but answers from the past would break it too; the mock store does not.

use isonomy_store::{Session, Store};
use isonomy_workload::Rng;

use super::{List, read, weighted, write};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// Twitter.
pub(crate) struct Twitter;

/// The user of all sessions but the last.
const READER: i64 = 0;
/// The user of the last session.
const AUTHOR: i64 = 1;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    CreateAccount {
        user: i64,
    },
    Follow {
        user: i64,
        whom: i64,
    },
    Unfollow {
        user: i64,
        whom: i64,
    },
    Tweet {
        user: i64,
        tweet: i64,
    },
    /// The tweets of all whom a user follows.
    NewsFeed {
        user: i64,
    },
    /// A user's tweets, seen by another.
    Timeline {
        user: i64,
        whom: i64,
    },
}

impl Script for Twitter {
    const NAME: &'static str = "twitter";
    const ABOUT: &'static str = "tweets, followers, timelines and newsfeeds";
    const ASSERTIONS: &'static [Assertion] = &[Assertion {
        name: "missing-tweets",
        about: "tweets that a user has seen are missing in the user's newsfeed",
    }];
    const OPERATIONS: usize = 3;
    const IS_SMALL: bool = true;

    type Place = Store<List>;
    type Operation = Operation;

    fn load(session: &mut Session<List>) -> Result<(), Failure> {
        [READER, AUTHOR].into_iter().try_for_each(|user| create(session, user))?;
        write(session, &following(READER), [AUTHOR])
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        let is_author = turn.session + 1 == turn.sessions;
        let (user, whom) = if is_author { (AUTHOR, READER) } else { (READER, AUTHOR) };
        let tweet = turn.unique();
        let (tweets, timelines, feeds) = if is_author { (15, 1, 1) } else { (1, 5, 11) };
        let operations = [
            (1, Operation::CreateAccount { user: 2 + tweet }),
            (1, Operation::Follow { user, whom }),
            (1, Operation::Unfollow { user, whom }),
            (tweets, Operation::Tweet { user, tweet }),
            (feeds, Operation::NewsFeed { user }),
            (timelines, Operation::Timeline { user, whom }),
        ];
        weighted(rng, &operations)
    }

    fn step(operation: &mut Operation, session: &mut Session<List>) -> Result<Step, Failure> {
        let answer = match *operation {
            Operation::CreateAccount { user } => {
                create(session, user)?;
                Vec::new()
            }
            Operation::Follow { user, whom } => {
                change(session, &following(user), |following| {
                    if !following.contains(&whom) {
                        following.push(whom);
                    }
                })?;
                Vec::new()
            }
            Operation::Unfollow { user, whom } => {
                change(session, &following(user), |following| following.retain(|followed| *followed != whom))?;
                Vec::new()
            }
            Operation::Tweet { user, tweet } => {
                change(session, &tweets(user), |tweets| tweets.push(tweet))?;
                Vec::new()
            }
            Operation::NewsFeed { user } => {
                let mut feed = Vec::new();
                for whom in read(session, &following(user))? {
                    feed.extend(read(session, &tweets(whom))?);
                }
                feed
            }
            Operation::Timeline { whom, .. } => read(session, &tweets(whom))?,
        };
        Ok(Step::Done(answer))
    }

    fn broken(log: &[Logged<Operation>], _: &mut Session<List>) -> Result<Vec<bool>, Failure> {
        Ok(vec![misses_tweets(log)])
    }
}

fn tweets(user: i64) -> String {
    format!("tweets:{user}")
}

fn following(user: i64) -> String {
    format!("following:{user}")
}

fn create(session: &mut Session<List>, user: i64) -> Result<(), Failure> {
    write(session, &tweets(user), [])?;
    write(session, &following(user), [])
}

fn change(session: &mut Session<List>, key: &str, change: impl FnOnce(&mut Vec<i64>)) -> Result<(), Failure> {
    let mut numbers = read(session, key)?;
    change(&mut numbers);
    write(session, key, numbers)
}

/// Whether a newsfeed of the reader lacks tweets of the author that the reader had seen, while the reader follows the author.
fn misses_tweets(log: &[Logged<Operation>]) -> bool {
    let mut seen: Vec<i64> = Vec::new();
    let mut follows = true;
    for entry in log {
        match (entry.operation, &entry.answer) {
            (Operation::Follow { user: READER, whom: AUTHOR }, Some(_)) => follows = true,
            (Operation::Unfollow { user: READER, whom: AUTHOR }, Some(_)) => follows = false,
            (Operation::Timeline { user: READER, whom: AUTHOR }, Some(tweets)) => seen.extend(tweets),
            (Operation::NewsFeed { user: READER }, Some(feed)) if follows => {
                if seen.iter().any(|tweet| !feed.contains(tweet)) {
                    return true;
                }
                seen.extend(feed);
            }
            _ => {}
        }
    }
    false
}
