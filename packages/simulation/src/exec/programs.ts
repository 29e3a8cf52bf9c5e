/**
 * The output of a few plain programs in a simulated container. It is derived from the pod alone; programs that need
 * files, processes or a network are not supported. Pure.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { exitOf, sleepOf } from "../kubelet/script.ts";
import { hostnameOf, variablesOf } from "./variables.ts";

/** The container that a program runs in. */
export interface Place {
  readonly pod: DeepReadonly<Pod>;
  readonly container: DeepReadonly<Container>;
  readonly nowMs: number;
}

export interface Answer {
  readonly stdout?: string;
  readonly stderr?: string;
  /** Unset keeps the exit code of the previous program. */
  readonly exitCode?: number;
  readonly sleepMs?: number;
  /** Ends the script. */
  readonly exits?: true;
}

/** The exit code of a shell for a program that it found but cannot execute. */
export const CANNOT_RUN = 126;

/** A sleeping command holds a connection open. */
const MAX_SLEEP_MS = 3_600_000;

type Program = (args: readonly string[], place: Place) => Answer | undefined;

const say = (text: string): Answer => ({ stdout: `${text}\n`, exitCode: 0 });
/** A program that is supported only without arguments. */
const alone =
  (answer: (place: Place) => Answer): Program =>
  (args, place) =>
    args.length === 0 ? answer(place) : undefined;

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["true", () => ({ exitCode: 0 })],
  ["false", () => ({ exitCode: 1 })],
  [":", () => ({ exitCode: 0 })],
  ["echo", echo],
  ["printf", printf],
  ["sleep", sleepProgram],
  ["hostname", alone(({ pod }) => say(hostnameOf(pod)))],
  ["env", alone(environment)],
  ["printenv", (args, place) => (args.length === 0 ? environment(place) : printVariable(args, place))],
  [
    "date",
    (args, { nowMs }) =>
      args.length === 0 || (args.length === 1 && args[0] === "-u") ? say(dateText(nowMs)) : undefined,
  ],
  ["pwd", alone(({ container }) => say(container.workingDir || "/"))],
  ["whoami", alone(whoami)],
  // The directory is empty: no image is unpacked.
  ["ls", alone(() => ({ exitCode: 0 }))],
  ["cat", (args, { pod }) => (args.length === 1 && args[0] === "/etc/hostname" ? say(hostnameOf(pod)) : undefined)],
]);

/** Undefined for commands that only a real machine could answer. */
export function answerOf([word = "", ...args]: readonly string[], isShell: boolean, place: Place): Answer | undefined {
  if (word === "exit") return isShell ? exitOf(args) : undefined;
  return PROGRAMS.get(word.replace(/^\/(?:usr\/)?bin\//, ""))?.(args, place);
}

function echo(args: readonly string[]): Answer | undefined {
  const isOpen = args[0] === "-n";
  const words = isOpen ? args.slice(1) : args;
  // Other options and backslashes behave differently between shells.
  if (words[0]?.startsWith("-") || words.some((word) => word.includes("\\"))) return undefined;
  return { stdout: `${words.join(" ")}${isOpen ? "" : "\n"}`, exitCode: 0 };
}

const ESCAPES: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\\\": "\\", "%%": "%" };

/** Text without format directives. */
function printf([text, ...rest]: readonly string[]): Answer | undefined {
  if (text === undefined || rest.length > 0 || text.startsWith("-") || !/^(?:[^%\\]|%%|\\[nt\\])*$/.test(text))
    return undefined;
  return { stdout: text.replaceAll(/%%|\\[nt\\]/g, (escape) => ESCAPES[escape] ?? escape), exitCode: 0 };
}

function sleepProgram(args: readonly string[]): Answer | undefined {
  const effect = sleepOf(args);
  return effect && (effect.sleepMs ?? 0) <= MAX_SLEEP_MS ? effect : undefined;
}

function environment({ pod, container }: Place): Answer {
  const { known, unknown, hasMore } = variablesOf(pod, container);
  const missing = [...unknown, ...(hasMore ? ["variables of envFrom"] : [])];
  return {
    stdout: Array.from(known, ([name, value]) => `${name}=${value}\n`).join(""),
    stderr: missing.length > 0 ? `values from other objects are not simulated: ${missing.join(", ")}\n` : undefined,
    exitCode: 0,
  };
}

function printVariable(names: readonly string[], { pod, container }: Place): Answer | undefined {
  const [name = "", ...rest] = names;
  if (rest.length > 0 || name.startsWith("-")) return undefined;
  const { known, unknown, hasMore } = variablesOf(pod, container);
  const value = known.get(name);
  // If another object may define the variable, neither its value nor its absence is known.
  if (value === undefined && (unknown.has(name) || hasMore))
    return { stderr: `printenv: values from other objects are not simulated\n`, exitCode: CANNOT_RUN };
  return value === undefined ? { exitCode: 1 } : say(value);
}

function whoami({ pod, container }: Place): Answer {
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser ?? 0;
  return user === 0 ? say("root") : { stderr: `whoami: cannot find name for user ID ${user}\n`, exitCode: 1 };
}

/** `Wed May  1 12:00:00 UTC 2024`. */
function dateText(nowMs: number): string {
  const [weekday = "", day = "", month = "", year = "", time = ""] = new Date(nowMs)
    .toUTCString()
    .replace(",", "")
    .split(" ");
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}
