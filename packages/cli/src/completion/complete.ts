/**
 * Answers a shell's completion request: one candidate per line, with its description after a tab, and a directive
 * number in the last line. kubectl plugins use this protocol, so one implementation serves every shell and kubectl.
 *
 * Every failure offers nothing: an error message would garble the line that the user is typing.
 */
import type { Clock } from "@flotilla/base";
import type { CommandContext, CommandEntry } from "../command.ts";
import { hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import type { HubFlagValues } from "../membership/hub-kubeconfig.ts";
import { chosenNamespace } from "../members/namespace-flag.ts";
import { offerCommands, offerFor } from "./offer-completions.ts";
import type { Candidate, Offer, Wanted } from "./offer-completions.ts";

/** Bits of the last line. */
const DIRECTIVES = { files: 0, noSpace: 2, nothingElse: 4, directories: 16 } as const;
/** The longest time a key press may wait for a hub. */
const TIMEOUT_MS = 1_500;
const MAX_SAYS = 100;

export interface CompletionReach extends Pick<CommandContext<never>, "connect" | "environment" | "readFile"> {
  clock: Clock;
  signal: AbortSignal;
  /** For debugging completion itself. */
  complain(error: unknown): void;
}

export async function completeLine(
  commands: readonly CommandEntry[],
  words: readonly string[],
  reach: CompletionReach,
): Promise<string> {
  const [name = "", ...rest] = words;
  if (rest.length === 0) return render(offerCommands(commands, name), DIRECTIVES.nothingElse);
  if (name === "help")
    return render(rest.length === 1 ? offerCommands(commands, rest[0] ?? "") : [], DIRECTIVES.nothingElse);
  const command = await commands.find((entry) => entry.name === name)?.load();
  const offer: Offer = command ? offerFor(command, rest) : { candidates: [] };
  if (offer.wanted?.completes === "file") return render([], DIRECTIVES.files);
  if (offer.wanted?.completes === "directory") return render([], DIRECTIVES.directories);
  const candidates = offer.wanted ? await look(offer.wanted, reach) : offer.candidates;
  const opens = candidates.length > 0 && candidates.every(({ value }) => value.endsWith("="));
  return render(candidates, DIRECTIVES.nothingElse + (opens ? DIRECTIVES.noSpace : 0));
}

async function look(wanted: Wanted, reach: CompletionReach): Promise<Candidate[]> {
  const { typed, before, completes } = wanted;
  try {
    const found = await (completes === "context" || completes === "hub-context"
      ? contexts(wanted, reach)
      : fromHub(wanted, reach));
    return found
      .filter(({ value }) => value.startsWith(typed))
      .map((candidate) => ({ ...candidate, value: before + candidate.value }));
  } catch (error) {
    reach.complain(error);
    return [];
  }
}

async function contexts(
  { completes, line: { flags } }: Wanted,
  { environment, readFile }: CompletionReach,
): Promise<Candidate[]> {
  const clusterFile = flags.get("cluster-kubeconfig")?.at(-1);
  const files =
    completes === "hub-context"
      ? hubKubeconfig(hubFlagValues(flags), environment).kubeconfigs
      : clusterFile === undefined
        ? []
        : [clusterFile];
  const { parseKubeconfig } = await import("@flotilla/client");
  const found = await Promise.allSettled(files.map(async (file) => parseKubeconfig(await readFile(file))));
  return found
    .flatMap((config) => (config.status === "fulfilled" ? [...config.value.contexts] : []))
    .map(([value, { cluster }]) => ({ value, says: `cluster ${cluster}` }));
}

function hubFlagValues(flags: ReadonlyMap<string, readonly string[]>): HubFlagValues {
  const last = (name: string): string | undefined => flags.get(name)?.at(-1);
  return {
    kubeconfig: last("kubeconfig"),
    data: last("data"),
    context: last("context"),
    as: last("as"),
    "as-group": flags.get("as-group"),
  };
}

async function fromHub(wanted: Wanted, reach: CompletionReach): Promise<Candidate[]> {
  const { connect, environment, clock, signal, complain } = reach;
  const { flags } = wanted.line;
  const [{ hubValues }, { withTimeout: patiently }] = await Promise.all([
    import("./hub-values.ts"),
    import("../members/ask.ts"),
  ]);
  const hub = await connect(hubKubeconfig(hubFlagValues(flags), environment));
  try {
    return await patiently(clock, TIMEOUT_MS, signal, (until) =>
      hubValues(
        wanted,
        { client: hub.client, clock, responseTimeoutMs: TIMEOUT_MS, signal: until },
        chosenNamespace({}, hub),
      ),
    );
  } finally {
    // Closing the connection is not awaited.
    void hub.close().catch(complain);
  }
}

function render(candidates: readonly Candidate[], directive: number): string {
  const lines = candidates.map(({ value, says }) =>
    says === undefined ? oneLine(value) : `${oneLine(value)}\t${oneLine(says).slice(0, MAX_SAYS)}`,
  );
  return [...lines, `:${directive}`, ""].join("\n");
}

/** Names come from servers and must not start a new line or column. */
// oxlint-disable-next-line no-control-regex
const oneLine = (text: string): string => text.replaceAll(/[\x00-\x1f\x7f]+/g, " ");
