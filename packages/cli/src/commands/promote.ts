/** `flotilla promote`: a standby hub takes over from the hub that it follows. */
import { FlotillaError, sleep, systemRandom } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { StandbyState, Standbys } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";

const POLL_MS = 50;
/** A standby that runs looks for requests ten times a second. */
const ANSWER_LIMIT_MS = 60_000;

export const promoteCommand = defineCommand({
  name: "promote",
  summary: "make a standby hub the hub, and end the hub that it follows",
  details:
    "Runs on the machine of a standby, which is 'flotilla apiserver' or 'flotilla up' with --standby-of. " +
    "The standby asks the hub that it follows to end: from then on that hub rejects every write, the " +
    "standby takes over what it still lacks, and serves. Nothing is lost. If the hub does not answer, " +
    "nothing is promoted, because two hubs could then change members. With --force the standby takes over " +
    "all the same: writes that it had not received are lost, and the other hub is ended as soon as it " +
    "answers. Use it only if the other hub is stopped, or cannot reach the members.",
  example: [
    { says: "Show how far the standby is.", run: "flotilla promote --data ./standby --status" },
    { says: "Take over.", run: "flotilla promote --data ./standby" },
    { says: "Take over from a hub whose machine is lost.", run: "flotilla promote --data ./standby --force" },
  ],
  args: [],
  flags: {
    data: { type: "string", value: "DIR", description: "data directory of the standby (default ~/.flotilla)" },
    force: {
      type: "boolean",
      description: "also if the other hub does not answer; it must be stopped, or cut off from the members",
    },
    status: { type: "boolean", description: "only show what the standby has" },
  },
  async run({ flags, output, signal, clock, environment, standbys }) {
    const data = flags.data ?? defaultDataDirectory(environment);
    const state = await read(standbys, data);
    if (flags.status) {
      output.result({ data, ...state }, () => renderState(state, clock.now()));
      return;
    }
    if (state.state === "promoted")
      throw new FlotillaError("Standby", `${data} was promoted before, to term ${state.term}`);
    const startedMs = clock.now();
    const id = Buffer.from(systemRandom.bytes(8)).toString("hex");
    output.progress("asking the standby");
    await standbys.request(data, { id, force: flags.force });
    const promoted = await waitUntilServing({ standbys, data, id, clock }, (text) => output.progress(text), signal);
    const seconds = ((clock.now() - startedMs) / 1000).toFixed(1);
    output.result({ data, ...promoted }, () =>
      output.called(
        [
          `promoted in ${seconds} s: ${promoted.objects} objects at revision ${promoted.revision}, term ${promoted.term}`,
          promoted.isFenced
            ? `the former hub ${promoted.server} is ended`
            : `the former hub ${promoted.server} did not answer; it is ended as soon as it does. Do not let it reach members before`,
        ].join("\n"),
      ),
    );
  },
});

async function read(standbys: Standbys, data: string): Promise<StandbyState> {
  const state = await standbys.read(data);
  if (!state)
    throw new FlotillaError(
      "Standby",
      `${data} is not the data directory of a standby; start one with 'flotilla apiserver --data DIR --standby-of KUBECONFIG', and name it with --data DIR`,
    );
  return state;
}

async function waitUntilServing(
  { standbys, data, id, clock }: { standbys: Standbys; data: string; id: string; clock: Clock },
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<StandbyState> {
  let seen: StandbyState["state"] | undefined;
  for (let untilMs = clock.now() + ANSWER_LIMIT_MS; clock.now() < untilMs; await sleep(clock, POLL_MS, signal)) {
    const state = await read(standbys, data);
    if (state.answer?.id === id) throw new FlotillaError("Standby", state.answer.problem);
    if (state.state === "promoted" && state.isServing) return state;
    if (state.state === seen) continue;
    seen = state.state;
    untilMs = clock.now() + ANSWER_LIMIT_MS;
    if (state.state === "promoting") progress("ending the other hub, and taking over its objects");
    if (state.state === "promoted") progress("starting to serve");
  }
  throw new FlotillaError(
    "Standby",
    `the standby in ${data} did not answer; check that its process runs, and look into ${data}/flotilla.log`,
  );
}

/** Pure. */
function renderState(state: StandbyState, nowMs: number): string {
  const { server, objects, revision, term, isComplete, seenAt, problem } = state;
  if (state.state === "promoted")
    return `promoted to term ${term}; the former hub ${server} is ${state.isFenced ? "ended" : "not ended yet, because it does not answer"}`;
  const heard = seenAt === "" ? "never" : `${Math.max(0, Math.round((nowMs - Date.parse(seenAt)) / 1000))} s ago`;
  return [
    `${state.state} ${server}, term ${term}, last heard ${heard}`,
    `${objects} objects at revision ${revision}${isComplete ? "" : "; the copy is not complete, so it cannot be promoted"}`,
    ...(problem === undefined ? [] : [problem]),
  ].join("\n");
}
