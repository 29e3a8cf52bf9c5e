/**
 * The effect of a container's command, if the command is plain: `sleep`, `echo`, `true`, `false` and `exit`, alone or
 * in sequence in a shell. A Job with `sh -c "echo hello; sleep 5; exit 1"` then behaves as written.
 *
 * Pure. Anything else (variables, pipes, other programs) is not a script, and the container keeps its default behavior.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

export interface Script {
  /** Its duration. */
  readonly runMs: number;
  readonly exitCode: number;
  /** Its output, with the delay after its start. */
  readonly echoes: readonly { readonly afterMs: number; readonly text: string }[];
}

/** A command, and the required result of the commands before it. */
export interface Step {
  readonly words: readonly string[];
  readonly needsSuccess: boolean;
}

/** Longer commands are treated as programs. */
const MAX_LENGTH = 4096;
const MAX_STEPS = 64;

const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba)?sh$/;
const PROGRAM = /^(?:\/(?:usr\/)?bin\/)?(sleep|echo|true|false)$/;
const UNIT_MS: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000 };

/** Undefined if the container has no command, or one that only a real machine could run. */
export function scriptOf({ command, args }: DeepReadonly<Pick<Container, "command" | "args">>): Script | undefined {
  if (!command?.length && !args?.length) return undefined;
  const parsed = stepsOf([...(command ?? []), ...(args ?? [])]);
  return parsed && run(parsed.steps, parsed.isShell);
}

/** The commands in `words`: themselves, or the script of a shell; undefined for a script that is not plain. */
export function stepsOf(words: readonly string[]): { steps: readonly Step[]; isShell: boolean } | undefined {
  const [program = "", flag, text, ...rest] = words;
  if (!SHELL.test(program)) return { steps: [{ words, needsSuccess: false }], isShell: false };
  if (flag !== "-c" || text === undefined || rest.length > 0 || text.length > MAX_LENGTH) return undefined;
  const steps = parse(text);
  return steps && { steps, isShell: true };
}

function run(steps: readonly Step[], isShell: boolean): Script | undefined {
  const echoes: { afterMs: number; text: string }[] = [];
  let runMs = 0;
  let exitCode = 0;
  let hasExited = false;
  for (const { words, needsSuccess } of steps) {
    // Unreachable commands must be plain, too: half of a script is not interpreted.
    const effect = effectOf(words, isShell);
    if (!effect) return undefined;
    if (hasExited || (needsSuccess && exitCode !== 0)) continue;
    if (effect.text !== undefined) echoes.push({ afterMs: runMs, text: effect.text });
    runMs += effect.sleepMs ?? 0;
    // A bare `exit` returns the previous exit code.
    if (effect.exitCode !== undefined) ({ exitCode } = effect);
    hasExited = effect.exits ?? false;
  }
  return { runMs, exitCode, echoes };
}

export interface Effect {
  readonly exitCode?: number;
  readonly sleepMs?: number;
  readonly text?: string;
  /** Ends the script. */
  readonly exits?: true;
}

function effectOf([program = "", ...args]: readonly string[], isShell: boolean): Effect | undefined {
  if (program === "exit") return isShell ? exitOf(args) : undefined;
  switch (PROGRAM.exec(program)?.[1]) {
    case "true":
      return { exitCode: 0 };
    case "false":
      return { exitCode: 1 };
    case "echo":
      // Options behave differently between shells.
      return args[0]?.startsWith("-") || args.some((word) => word.includes("\\"))
        ? undefined
        : { exitCode: 0, text: args.join(" ") };
    case "sleep":
      return sleepOf(args);
    default:
      return undefined;
  }
}

export function exitOf([code, ...rest]: readonly string[]): Effect | undefined {
  if (code === undefined) return { exits: true };
  return rest.length === 0 && /^\d{1,3}$/.test(code) && Number(code) <= 255
    ? { exitCode: Number(code), exits: true }
    : undefined;
}

export function sleepOf([time = "", ...rest]: readonly string[]): Effect | undefined {
  const [, number, unit = ""] = /^(\d{1,7}(?:\.\d{1,3})?)([smh]?)$/.exec(time) ?? [];
  return number === undefined || rest.length > 0
    ? undefined
    : { exitCode: 0, sleepMs: Math.round(Number(number) * (UNIT_MS[unit] ?? 0)) };
}

/**
 * A word with its quotes, or a command separator. Text outside quotes or in double quotes contains nothing that a shell
 * would expand.
 */
const TOKEN = /[ \t]+|(;|&&|\n)|((?:[\w./:,+=@%^!-]+|'[^']*'|"[^"$`\\]*")+)/y;
const QUOTED = /'([^']*)'|"([^"]*)"/g;

/** The commands of a shell script; undefined if it needs more than this grammar. */
function parse(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let words: string[] = [];
  let needsSuccess = false;
  const finish = (): void => {
    steps.push({ words, needsSuccess });
    words = [];
    needsSuccess = false;
  };
  TOKEN.lastIndex = 0;
  // `&&` continues on the next line; a `;` needs a command before it.
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text);
    if (!token || steps.length > MAX_STEPS) return undefined;
    const [, separator, word] = token;
    if (word !== undefined)
      words.push(
        word.replaceAll(QUOTED, (_, single: string | undefined, double: string | undefined) => single ?? double ?? ""),
      );
    else if (separator === undefined) continue;
    else if (words.length > 0) {
      finish();
      needsSuccess = separator === "&&";
    } else if (separator !== "\n") return undefined;
  }
  if (words.length > 0) finish();
  return needsSuccess || steps.length === 0 ? undefined : steps;
}
