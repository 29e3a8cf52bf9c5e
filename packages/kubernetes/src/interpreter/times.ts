/** Times as the API writes them. */

/** The latest of some times; empty strings mean no time. */
export function latestOf(times: readonly string[]): string {
  return times.reduce((latest, time) => (time !== "" && (latest === "" || isLater(time, latest)) ? time : latest), "");
}

/** The earliest of some times; empty strings mean no time. */
export function earliestOf(times: readonly string[]): string {
  return times.reduce(
    (earliest, time) => (time !== "" && (earliest === "" || isLater(earliest, time)) ? time : earliest),
    "",
  );
}

/** UTC times of the same precision, which controllers write, sort like their texts; comparing texts is much faster. */
function isLater(a: string, b: string): boolean {
  return a.length === b.length && a.endsWith("Z") && b.endsWith("Z") ? a > b : Date.parse(a) > Date.parse(b);
}
