/** Schedules in the five fields of cron, and the time zones that they are read in; what is wrong is said as upstream's library does. */

interface Bounds {
  min: number;
  max: number;
  names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);
const ZONED = /^(?:CRON_)?TZ=([^ ]*)( ?)/;

/** Undefined for a schedule that can be followed. */
export function scheduleProblem(schedule: string): string | undefined {
  let text = schedule;
  const zone = ZONED.exec(schedule);
  if (zone) {
    const [whole, name = "", space] = zone;
    if (space === "") return `invalid schedule format: runtime error: slice bounds out of range [:-1]`;
    const problem = zoneProblem(name);
    if (problem !== undefined) return `provided bad location ${name}: ${problem}`;
    text = schedule.slice(whole.length).trim();
  }
  if (text.startsWith("@")) return descriptorProblem(text);
  const fields = text.split(/\s+/).filter(Boolean);
  if (fields.length !== FIELDS.length) return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] ?? "").split(",").filter(Boolean)) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

function descriptorProblem(descriptor: string): string | undefined {
  if (DESCRIPTORS.has(descriptor)) return undefined;
  if (!descriptor.startsWith("@every ")) return `unrecognized descriptor: ${descriptor}`;
  const duration = descriptor.slice("@every ".length);
  if (DURATION.test(duration) || /^[+-]?0$/.test(duration)) return undefined;
  const why = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(duration) ? "missing unit in duration" : "invalid duration";
  return `failed to parse duration ${descriptor}: time: ${why} ${JSON.stringify(duration)}`;
}

/** `1-5/2`, `*`, `mon`. */
function rangeProblem(range: string, { min, max, names }: Bounds): string | undefined {
  const [span = "", step, ...moreSteps] = range.split("/");
  const [low = "", high, ...moreEnds] = span.split("-");
  const isAny = low === "*" || low === "?";
  const start = isAny ? min : numberOf(low, names);
  if (typeof start === "string") return start;
  let end = isAny ? max : high === undefined ? start : numberOf(high, names);
  if (typeof end === "string") return end;
  if (!isAny && moreEnds.length > 0) return `too many hyphens: ${range}`;
  const every = step === undefined ? 1 : numberOf(step);
  if (step !== undefined && moreSteps.length === 0 && typeof every === "string") return every;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  if (step !== undefined && high === undefined) end = max;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return every === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** The number, or why there is none. */
function numberOf(text: string, names?: readonly string[]): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (names && named >= 0) return names === MONTHS ? named + 1 : named;
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const number = Number(text);
  if (!Number.isSafeInteger(number)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`;
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

/** Names of zones are names of files upstream, so case matters there. */
export function zoneProblem(name: string): string | undefined {
  if (name === "" || name === "UTC" || name === "Local") return undefined;
  const known = resolvedZone(name);
  const isSpelled = known !== undefined && (known.toLowerCase() === name.toLowerCase() ? known === name : name.split("/").every((part) => /^[A-Z]/.test(part)));
  return isSpelled ? undefined : `unknown time zone ${name}`;
}

function resolvedZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
