/** Times as the API writes them. */

/** The latest of some times; empty texts stand for no time. */
export function latestOf(times: readonly string[]): string {
  return times.reduce((latest, time) => (time !== "" && (latest === "" || Date.parse(time) > Date.parse(latest)) ? time : latest), "");
}

/** The earliest of some times; empty texts stand for no time. */
export function earliestOf(times: readonly string[]): string {
  return times.reduce((earliest, time) => (time !== "" && (earliest === "" || Date.parse(time) < Date.parse(earliest)) ? time : earliest), "");
}
