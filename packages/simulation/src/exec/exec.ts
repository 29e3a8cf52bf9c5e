/**
 * `kubectl exec` and `kubectl attach` for simulated pods. A few plain programs return their usual output, with a note
 * that it is simulated; any other program exits with 126, so that scripts notice. Attach shows the log.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { sleep } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import { stepsOf } from "../kubelet/script.ts";
import { statusOf } from "./log-lines.ts";
import type { ContainerOfPod, PodLog } from "./pod-log.ts";
import { CANNOT_RUN, answerOf } from "./programs.ts";
import { fileProgram } from "./file-programs.ts";
import { SimulatedFiles } from "./container-files.ts";

export interface CommandOptions {
  command: readonly string[];
  tty: boolean;
}

/** The client's ends of the streams. */
export interface CommandStreams {
  /** Ends when the client closes its input. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Resolves when the stream accepts more. */
  stdout(chunk: Uint8Array): Promise<void>;
  stderr(chunk: Uint8Array): Promise<void>;
}

export interface Ended {
  exitCode: number;
}

type ReadPod = DeepReadonly<Pod>;

/** Enough to recognize a program. */
const MAX_NAME_LENGTH = 64;

export async function execute(
  target: ContainerOfPod,
  { command, tty }: CommandOptions,
  streams: CommandStreams,
  clock: Clock,
  signal: AbortSignal,
  files = new SimulatedFiles(),
): Promise<Ended> {
  const pod = target.pod as unknown as ReadPod;
  const container = runningContainer(pod, target);
  const { out, err } = writers(streams, tty);
  const withFiles = fileProgram(
    command,
    files.of(pod.metadata.uid ?? "", target.container),
    clock.now(),
    container.workingDir || "/",
  );
  // Without a note: the output is the client's own data.
  if (withFiles) return { exitCode: await withFiles({ stdin: streams.stdin, stdout: streams.stdout, err }) };
  const parsed = stepsOf(command);
  const answer = (words: readonly string[]) =>
    answerOf(words, parsed?.isShell ?? false, { pod, container, nowMs: clock.now() });
  // The whole script is checked before any of it runs: running half of it would change its meaning.
  const foreign = parsed ? parsed.steps.find(({ words }) => !answer(words))?.words : command;
  if (foreign) {
    await err(
      `${printable(foreign[0] ?? "")}: not simulated: pod ${target.namespace}/${pod.metadata.name} runs no processes\n`,
    );
    return { exitCode: CANNOT_RUN };
  }
  await err(
    `simulated: pod ${target.namespace}/${pod.metadata.name} runs no processes; the answer is worked out from its spec\n`,
  );
  let exitCode = 0;
  for (const { words, needsSuccess } of parsed?.steps ?? []) {
    if (needsSuccess && exitCode !== 0) continue;
    const { stdout, stderr, sleepMs, exits, exitCode: code = exitCode } = answer(words) ?? {};
    if (stdout) await out(stdout);
    if (stderr) await err(stderr);
    if (sleepMs) await sleep(clock, sleepMs, signal);
    exitCode = code;
    if (exits) break;
  }
  return { exitCode };
}

/** Until the container ends or the client disconnects. */
export async function showLog(
  target: ContainerOfPod,
  log: PodLog,
  { tty }: Pick<CommandOptions, "tty">,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<Ended> {
  runningContainer(target.pod as unknown as ReadPod, target);
  const { out, err } = writers(streams, tty);
  await err(
    `simulated: pod ${target.namespace}/${(target.pod as unknown as ReadPod).metadata.name} runs no processes; ` +
      `this is the log of container ${target.container}\n`,
  );
  for (const { text } of log.lines) await out(`${text}\n`);
  for await (const { text } of log.follow(signal)) await out(`${text}\n`);
  return { exitCode: 0 };
}

function runningContainer(pod: ReadPod, { container: name }: ContainerOfPod): DeepReadonly<Container> {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const container = [
    ...containers,
    ...initContainers,
    ...(ephemeralContainers as readonly DeepReadonly<Container>[]),
  ].find((candidate) => candidate.name === name);
  if (!container || !statusOf(pod, name)?.state?.running)
    throw badRequest(`container ${name} of pod ${pod.metadata.name} is not running`);
  return container;
}

/** A terminal has a single output and needs a carriage return before each newline. */
function writers(
  { stdout, stderr }: CommandStreams,
  tty: boolean,
): Record<"out" | "err", (text: string) => Promise<void>> {
  const encoder = new TextEncoder();
  const write = (stream: CommandStreams["stdout"]) => (text: string) =>
    stream(encoder.encode(tty ? text.replaceAll("\n", "\r\n") : text));
  return { out: write(stdout), err: write(tty ? stdout : stderr) };
}

/** Without terminal control characters. */
const printable = (text: string): string => text.slice(0, MAX_NAME_LENGTH).replaceAll(/[^\x20-\x7e]/g, "?");
