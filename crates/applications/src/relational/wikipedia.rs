//! Wikipedia: pages are read, edited and watched.
//!
//! The five transactions of OLTP-Bench (Difallah et al., VLDB 2013), with its twelve tables as far as they need them; the original mix, in which
//! nine in ten only read, is turned around. Two pages and two users, as in the thesis.
//!
//! The thesis asserts that the numbers of edits "recorded in the user information, history, and logging tables are consistent"
//! for a user and for a page. Here: a user's `user_editcount` is the number of the user's revisions (A15) and of the user's lines
//! in the log (A16); and from a page's latest revision back, from parent to parent, there are as many revisions as the log has lines of the page (A17).

use isonomy_sql::{Datum, Engine};
use isonomy_workload::Rng;

use super::client::{Database, numbers, text};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// Wikipedia.
pub(crate) struct Wikipedia;

const PAGES: i64 = 2;
const USERS: i64 = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    AddToWatchList { user: i64, page: i64 },
    RemoveFromWatchList { user: i64, page: i64 },
    GetPageAnonymous { page: i64 },
    GetPageAuthenticated { user: i64, page: i64 },
    UpdatePage { user: i64, page: i64, edit: i64 },
}

const SCHEMA: &str = "
    CREATE TABLE ipblocks (ipb_id integer PRIMARY KEY, ipb_user integer);
    CREATE TABLE useracct (user_id integer PRIMARY KEY, user_name varchar(255), user_touched integer, user_editcount integer);
    CREATE TABLE user_groups (ug_user integer, ug_group varchar(16), PRIMARY KEY (ug_user, ug_group));
    CREATE TABLE page (page_id integer PRIMARY KEY, page_title varchar(255), page_latest integer, page_touched integer);
    CREATE TABLE page_backup (page_id integer PRIMARY KEY, page_title varchar(255), page_latest integer);
    CREATE TABLE page_restrictions (pr_page integer, pr_type varchar(60), pr_level varchar(60), PRIMARY KEY (pr_page, pr_type));
    CREATE TABLE text (old_id integer PRIMARY KEY, old_text varchar(255), old_page integer);
    CREATE TABLE revision (rev_id integer PRIMARY KEY, rev_page integer, rev_text_id integer, rev_user integer, rev_parent_id integer);
    CREATE TABLE recentchanges (rc_id integer PRIMARY KEY, rc_cur_id integer, rc_user integer, rc_this_oldid integer, rc_last_oldid integer);
    CREATE TABLE logging (log_id integer PRIMARY KEY, log_user integer, log_page integer);
    CREATE TABLE watchlist (wl_user integer, wl_page integer, wl_notificationtimestamp integer, PRIMARY KEY (wl_user, wl_page));
    CREATE TABLE value_backup (table_name varchar(255) PRIMARY KEY, maxid integer)";

const WATCH: &str = "INSERT INTO watchlist (wl_user, wl_page) VALUES ($1, $2)";
const WATCHES: &str = "SELECT wl_user FROM watchlist WHERE wl_user = $1 AND wl_page = $2";
const UNWATCH: &str = "DELETE FROM watchlist WHERE wl_user = $1 AND wl_page = $2";
const TOUCH_USER: &str = "UPDATE useracct SET user_touched = user_touched + 1 WHERE user_id = $1";
const GET_USER: &str = "SELECT user_name FROM useracct WHERE user_id = $1";
const GET_GROUPS: &str = "SELECT ug_group FROM user_groups WHERE ug_user = $1";
const GET_PAGE: &str = "SELECT page_latest FROM page WHERE page_id = $1";
const GET_RESTRICTIONS: &str = "SELECT pr_type, pr_level FROM page_restrictions WHERE pr_page = $1";
const GET_BLOCKS: &str = "SELECT ipb_id FROM ipblocks WHERE ipb_user = $1";
const GET_REVISION: &str = "SELECT r.rev_id, t.old_id FROM page p
    JOIN revision r ON p.page_id = r.rev_page AND p.page_latest = r.rev_id
    JOIN text t ON r.rev_text_id = t.old_id
    WHERE p.page_id = $1";
const INSERT_TEXT: &str = "INSERT INTO text (old_id, old_text, old_page) VALUES ($1, $2, $3)";
const INSERT_REVISION: &str =
    "INSERT INTO revision (rev_id, rev_page, rev_text_id, rev_user, rev_parent_id) VALUES ($1, $2, $3, $4, $5)";
const UPDATE_PAGE: &str = "UPDATE page SET page_latest = $1, page_touched = page_touched + 1 WHERE page_id = $2";
const INSERT_RECENT_CHANGE: &str = "INSERT INTO recentchanges (rc_id, rc_cur_id, rc_user, rc_this_oldid, rc_last_oldid)
    VALUES ($1, $2, $3, $4, $5)";
const GET_WATCHERS: &str = "SELECT wl_user FROM watchlist WHERE wl_page = $1 AND wl_notificationtimestamp IS NULL";
const NOTIFY: &str = "UPDATE watchlist SET wl_notificationtimestamp = $1 WHERE wl_page = $2 AND wl_user = $3";
const INSERT_LOG: &str = "INSERT INTO logging (log_id, log_user, log_page) VALUES ($1, $2, $3)";
const COUNT_EDIT: &str = "UPDATE useracct SET user_editcount = user_editcount + 1, user_touched = user_touched + 1
    WHERE user_id = $1";

const EDITS_OF_USER: &str = "SELECT user_editcount FROM useracct WHERE user_id = $1";
const REVISIONS_OF_USER: &str = "SELECT COUNT(*) FROM revision WHERE rev_user = $1";
const LOG_OF_USER: &str = "SELECT COUNT(*) FROM logging WHERE log_user = $1";
const LOG_OF_PAGE: &str = "SELECT COUNT(*) FROM logging WHERE log_page = $1";
const REVISIONS_OF_PAGE: &str = "SELECT rev_id, rev_parent_id FROM revision WHERE rev_page = $1";

impl Script for Wikipedia {
    const NAME: &'static str = "wikipedia";
    const ABOUT: &'static str = "pages that are read, edited and watched";
    const ASSERTIONS: &'static [Assertion] = &[
        Assertion { name: "A15", about: "a user's count of edits is the number of the user's revisions" },
        Assertion { name: "A16", about: "a user's count of edits is the number of the user's lines in the log" },
        Assertion { name: "A17", about: "a page's history is as long as the log of the page" },
    ];
    const OPERATIONS: usize = 10;
    const IS_SMALL: bool = false;

    type Place = Engine;
    type Operation = Operation;

    fn create(database: &mut Database) -> Result<(), Failure> {
        database.execute(SCHEMA)
    }

    fn load(database: &mut Database) -> Result<(), Failure> {
        for user in 1..=USERS {
            let name = text(&format!("user {user}"));
            let [id, zero] = numbers([user, 0]);
            database.change("INSERT INTO useracct VALUES ($1, $2, $3, $4)", &[id.clone(), name, zero.clone(), zero])?;
            database.change("INSERT INTO user_groups VALUES ($1, $2)", &[id, text("user")])?;
        }
        for page in 1..=PAGES {
            let title = text(&format!("page {page}"));
            let [id, zero, nobody] = numbers([page, 0, 0]);
            // The revision that a page begins with has the page's number, and is nobody's edit.
            let latest = id.clone();
            database.change("INSERT INTO page VALUES ($1, $2, $3, $4)", &[id.clone(), title, latest, zero.clone()])?;
            database.change(INSERT_TEXT, &[id.clone(), text("at first"), id.clone()])?;
            database.change(INSERT_REVISION, &[id.clone(), id.clone(), id, nobody, zero])?;
        }
        Ok(())
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        let (user, page) = (1 + rng.below(USERS as u64) as i64, 1 + rng.below(PAGES as u64) as i64);
        match rng.below(100) {
            0..10 => Operation::AddToWatchList { user, page },
            10..20 => Operation::RemoveFromWatchList { user, page },
            20..30 => Operation::GetPageAnonymous { page },
            30..40 => Operation::GetPageAuthenticated { user, page },
            _ => Operation::UpdatePage { user, page, edit: PAGES + turn.unique() },
        }
    }

    fn step(operation: &mut Operation, database: &mut Database) -> Result<Step, Failure> {
        let answer = match *operation {
            Operation::AddToWatchList { user, page } => {
                if database.rows(WATCHES, &numbers([user, page]))?.is_empty() {
                    database.change(WATCH, &numbers([user, page]))?;
                    database.change(TOUCH_USER, &numbers([user]))?;
                }
                Vec::new()
            }
            Operation::RemoveFromWatchList { user, page } => {
                if database.change(UNWATCH, &numbers([user, page]))? > 0 {
                    database.change(TOUCH_USER, &numbers([user]))?;
                }
                Vec::new()
            }
            Operation::GetPageAnonymous { page } => vec![get_page(page, database)?],
            Operation::GetPageAuthenticated { user, page } => {
                database.row(GET_USER, &numbers([user]))?;
                database.rows(GET_GROUPS, &numbers([user]))?;
                database.rows(GET_BLOCKS, &numbers([user]))?;
                vec![get_page(page, database)?]
            }
            Operation::UpdatePage { user, page, edit } => update_page(user, page, edit, database)?,
        };
        Ok(Step::Done(answer))
    }

    fn broken(_: &[Logged<Operation>], database: &mut Database) -> Result<Vec<bool>, Failure> {
        let mut broken = vec![false; 3];
        for user in 1..=USERS {
            let edits = database.number(EDITS_OF_USER, &numbers([user]))?;
            broken[0] |= edits != database.number(REVISIONS_OF_USER, &numbers([user]))?;
            broken[1] |= edits != database.number(LOG_OF_USER, &numbers([user]))?;
        }
        for page in 1..=PAGES {
            broken[2] |= length_of_history(page, database)? != database.number(LOG_OF_PAGE, &numbers([page]))?;
        }
        Ok(broken)
    }
}

/// The number of the latest revision.
fn get_page(page: i64, database: &mut Database) -> Result<i64, Failure> {
    database.row(GET_PAGE, &numbers([page]))?;
    database.rows(GET_RESTRICTIONS, &numbers([page]))?;
    database.row(GET_REVISION, &numbers([page]))?.number(0)
}

/// Text, revision, change and line of the log have the edit's number: a column that counts by itself would give each a new one too.
fn update_page(user: i64, page: i64, edit: i64, database: &mut Database) -> Result<Vec<i64>, Failure> {
    let parent = get_page(page, database)?;
    let [edit_id, user_id, page_id, parent_id] = numbers([edit, user, page, parent]);
    database.change(INSERT_TEXT, &[edit_id.clone(), text(&format!("edit {edit}")), page_id.clone()])?;
    let revision: [&Datum; 5] = [&edit_id, &page_id, &edit_id, &user_id, &parent_id];
    database.change(INSERT_REVISION, &revision.map(Datum::clone))?;
    database.change(UPDATE_PAGE, &numbers([edit, page]))?;
    let change: [&Datum; 5] = [&edit_id, &page_id, &user_id, &edit_id, &parent_id];
    database.change(INSERT_RECENT_CHANGE, &change.map(Datum::clone))?;
    for watcher in database.rows(GET_WATCHERS, &[page_id])? {
        let watcher = watcher.number(0)?;
        if watcher != user {
            database.change(NOTIFY, &numbers([edit, page, watcher]))?;
        }
    }
    database.change(INSERT_LOG, &numbers([edit, user, page]))?;
    database.change(COUNT_EDIT, &numbers([user]))?;
    Ok(vec![parent])
}

/// How many edits there are from a page's latest revision back to its first one.
fn length_of_history(page: i64, database: &mut Database) -> Result<i64, Failure> {
    let mut revision = database.number(GET_PAGE, &numbers([page]))?;
    let rows = database.rows(REVISIONS_OF_PAGE, &numbers([page]))?;
    let mut length = 0;
    // A history that is longer than there are revisions has a loop.
    while revision != page && length <= rows.len() as i64 {
        let Some(row) = rows.iter().find(|row| row.maybe(0) == Some(revision)) else { break };
        revision = row.maybe(1).unwrap_or(page);
        length += 1;
    }
    Ok(length)
}
