//! What checks took: the stages of each level, and the constraints.

use super::numbers::{grouped, time};
use super::plot;
use crate::library::Told;

/// The stages of a check, in their order.
const STAGES: [&str; 9] =
    ["reads", "saturate", "determine", "guess", "constrain", "prune", "solve", "search", "explain"];

/// The names of all stages of some levels, in their order; those that we do not know come last.
pub(super) fn stages<'t>(told: impl IntoIterator<Item = &'t Told>) -> Vec<&'t str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in told.into_iter().flat_map(|told| &told.stages) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| STAGES.iter().position(|known| known == name).unwrap_or(usize::MAX));
    names
}

/// What a stage of a level took, in seconds.
pub(super) fn took(told: &Told, stage: &str) -> f64 {
    told.stages.iter().find(|(name, _)| name == stage).map_or(0.0, |(_, took)| *took)
}

/// Where the time went, and how many constraints there were, if they were to be counted. Levels that followed from others took none.
pub(super) fn plots(told: &[Told], counted: bool) -> String {
    let names = stages(told);
    let row = |told: &Told| (told.level.clone(), names.iter().map(|stage| took(told, stage)).collect());
    let times: Vec<(String, Vec<f64>)> = told.iter().filter(|told| !told.stages.is_empty()).map(row).collect();
    let mut out = String::new();
    if !times.is_empty() {
        out += &plot::rows("Time of each stage", &names, &times, time);
    }
    let mut constraints = Vec::new();
    for told in told {
        let Some((before, after)) = told.constraints else { continue };
        constraints.push((told.level.clone(), vec![before as f64]));
        constraints.extend(after.map(|after| ("after pruning".to_owned(), vec![after as f64])));
    }
    let title = "Constraints, before and after pruning";
    if constraints.iter().any(|(_, values)| values[0] > 0.0) {
        out += &plot::rows(title, &["constraints"], &constraints, |number| grouped(number as u64));
    } else if counted {
        out += &plot::nothing(title, "There were none: what the reads say was enough to decide.");
    }
    if out.is_empty() {
        return out;
    }
    format!(
        "<section class=\"section\" aria-labelledby=\"work\">\n<h2 id=\"work\">The work</h2>\n\
         <p class=\"hint\">A level that follows from another one takes no time of its own and is left out here.</p>\n\
         <div class=\"plots\">\n{out}</div>\n</section>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_in_their_order() {
        let stages_of = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
        let told = [
            Told { stages: stages_of(&["explain", "new", "reads"]), ..Told::default() },
            Told { stages: stages_of(&["guess"]), ..Told::default() },
        ];
        assert_eq!(stages(&told), ["reads", "guess", "explain", "new"]);
        let text = plots(&told, false);
        assert!(text.contains("Time of each stage") && !text.contains("Constraints"), "{text}");
        assert!(plots(&told, true).contains("There were none"));
        assert_eq!(plots(&[], false), "");
    }

    #[test]
    fn constraints_are_told_before_and_after() {
        let told = Told { level: "prefix".into(), constraints: Some((40, Some(7))), ..Told::default() };
        let text = plots(&[told], true);
        assert!(text.contains("prefix 40, after pruning 7"), "{text}");
    }
}
