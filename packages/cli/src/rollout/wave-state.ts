/** Where one wave of a release is, in a few words. Pure. */

/** What the release gave a member. */
export interface WaveMember {
  readonly name: string;
  /** The first wave that reached it; unset before. */
  readonly wave?: string | undefined;
  readonly state?: string | undefined;
  /** It has the revision of this release assigned. */
  readonly hasRelease: boolean;
}

interface ReleaseState {
  /** Unset before it is planned. */
  readonly phase?: string | undefined;
  /** The position of the wave that is in progress, or was last. */
  readonly at: number;
  readonly waveState?: string | undefined;
  readonly hasFailed?: boolean;
}

const IN_PROGRESS: Readonly<Record<string, string>> = {
  Before: "waits",
  Open: "open",
  After: "complete, waits",
};
const RETURNS: ReadonlySet<string> = new Set(["RollingBack", "RolledBack", "Failed"]);
const MAX_NAMED = 3;

/** Empty for a wave that has not been reached. `members` are those of the wave. */
export function waveState(
  index: number,
  { phase = "", at, waveState: state = "Open", hasFailed = false }: ReleaseState,
  members: readonly WaveMember[] = [],
): string {
  if (phase === "Succeeded" || (index < at && !RETURNS.has(phase))) return complete(members);
  if (index > at) return "";
  if (RETURNS.has(phase)) return index === at && state === "Before" ? "not started" : returned(phase, members);
  if (phase === "Superseded") return state === "Before" ? "" : "superseded";
  return phase === "Paused" ? (hasFailed ? "failed, paused" : "paused") : (IN_PROGRESS[state] ?? "");
}

/** A wave continues without members that cannot be reached; they follow when they are back. */
function complete(members: readonly WaveMember[]): string {
  const away = members.filter(({ state }) => state === "Skipped" || state === "Unreachable");
  return away.length === 0 ? "complete" : `complete without ${named(away)}`;
}

function named(members: readonly WaveMember[]): string {
  const more = members.length > MAX_NAMED ? ` and ${members.length - MAX_NAMED} more` : "";
  return `${members
    .slice(0, MAX_NAMED)
    .map(({ name }) => name)
    .join(", ")}${more}`;
}

function returned(phase: string, members: readonly WaveMember[]): string {
  const left = members.filter(
    ({ hasRelease, state, wave }) =>
      hasRelease || state === "RollingBack" || (state === "Unreachable" && wave !== undefined),
  );
  if (left.length === 0) return "rolled back";
  if (phase === "RollingBack") return left.every(({ hasRelease }) => hasRelease) ? "will roll back" : "rolling back";
  return `not back: ${named(left)}`;
}
