/** Where one wave of a release is, in a word or two. Pure. */

interface ReleaseState {
  /** Unset before it is planned. */
  readonly phase?: string | undefined;
  /** The position of the wave that is in progress, or was last. */
  readonly at: number;
  readonly waveState?: string | undefined;
}

const IN_PROGRESS: Readonly<Record<string, string>> = {
  Before: "waits",
  Open: "open",
  After: "complete, waits",
};
/** What ended with the wave in progress, and holds for all that were reached before. */
const RETURNS: Readonly<Record<string, string>> = {
  RollingBack: "rolling back",
  RolledBack: "rolled back",
  Failed: "failed",
};

/** Empty for a wave that has not been reached. */
export function waveState(index: number, { phase = "", at, waveState: state = "Open" }: ReleaseState): string {
  if (phase === "Succeeded") return "complete";
  if (index > at) return "";
  const returned = RETURNS[phase];
  if (returned !== undefined) return returned;
  if (index < at) return "complete";
  return phase === "Paused" ? "paused" : (IN_PROGRESS[state] ?? "");
}
