/**
 * Formats the error of a failed command in one line: what was attempted, the cause, what to try. Pure.
 *
 * Flotilla's own errors already contain all of it; system and server errors, which lack the context, get it here.
 */
import { basename, dirname } from "node:path";
import { FlotillaError, UsageError } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { startCommandOf } from "@flotilla/cli";
import type { LastStart } from "@flotilla/cli";

interface Failure {
  code: string;
  message: string;
  exitCode: number;
}

interface Circumstances {
  /** Kubeconfigs that were opened, in order. */
  kubeconfigs: readonly string[];
  /** The default data directory. */
  defaultData: string;
  /** How the hub of the first kubeconfig was last started, if that is recorded beside it. */
  lastStart?: LastStart | undefined;
  /** The exit code of a failure. */
  failureCode?: number | undefined;
}

const FAILED = 1;
const WRONG_USAGE = 2;
const SYSTEM: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of the path is a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it already exists",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EMFILE: "too many files are open; 'ulimit -n' shows the limit",
};
/** Of `flotilla up`. */
const DEFAULT_PORT = "6443";
/** A server's response for a path that it does not serve. */
const NOT_SERVED = "the server could not find the requested resource";

export function describeFailure(thrown: unknown, circumstances: Circumstances): Failure {
  // After Ctrl-C, the interrupted operation does not matter.
  const error = causesOf(thrown).find((cause) => cause instanceof FlotillaError && cause.code === "Stopped") ?? thrown;
  const exitCode = error instanceof UsageError ? WRONG_USAGE : (circumstances.failureCode ?? FAILED);
  const isOurs = error instanceof FlotillaError || systemWords(error) !== undefined;
  const advice = isOurs
    ? adviceFor(error, circumstances)
    : "; this is a bug in Flotilla: set FLOTILLA_DEBUG=1 for a stack trace, and please report it";
  return {
    code: error instanceof FlotillaError ? error.code : isOurs ? "File" : "Invariant",
    message: `${textOf(error)}${advice}`,
    exitCode,
  };
}

function causesOf(error: unknown): unknown[] {
  return error instanceof Error && error.cause !== undefined ? [error, ...causesOf(error.cause)] : [error];
}

/** The message with those of its causes. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = systemWords(error);
  if (words !== undefined) return words;
  if (error.cause === undefined) return error.message;
  // The message already explains the cause; the code is for searching.
  const code = codeOf(error.cause);
  if (error instanceof UnreachableError && code !== undefined) return `${error.message} (${code})`;
  // A cause after advice would read as part of it.
  return systemWords(error.cause) !== undefined && error.message.includes("; ")
    ? `${error.message} (${textOf(error.cause)})`
    : `${error.message}: ${textOf(error.cause)}`;
}

/** The explanation of a system error about a file. */
function systemWords(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error)) return undefined;
  return SYSTEM[codeOf(error) ?? ""];
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "string" &&
    /^[A-Z][A-Z0-9_]+$/.test(error.code)
    ? error.code
    : undefined;
}

/**
 * A permission that the user lacks. Admission answers with 403 too, for example to an exceeded quota: no permission would
 * help there.
 */
const DENIED = /\bforbidden: (User "[^"]*" cannot |user "[^"]*" .*attempting to grant RBAC|user not permitted )/s;

/** What to try, where the error itself cannot know. */
function adviceFor(failure: unknown, { kubeconfigs, defaultData, lastStart }: Circumstances): string {
  const files = kubeconfigs.join(" and ");
  const [hub] = kubeconfigs;
  const error = causesOf(failure).find((cause) => cause instanceof UnreachableError || cause instanceof ApiError);
  if (hub === undefined) return "";
  if (
    error instanceof UnreachableError &&
    codeOf(error.cause) === "ECONNREFUSED" &&
    kubeconfigs.length === 1 &&
    basename(hub) === "hub.kubeconfig"
  ) {
    const data = dirname(hub) === defaultData ? undefined : dirname(hub);
    const [, port = DEFAULT_PORT] = /(?:https:\/\/| at )[^/\s]*:(\d+)/.exec(error.message) ?? [];
    return `. To start the hub of ${hub}: '${startCommandOf(data, lastStart ?? { command: "up", port: Number(port) })}'`;
  }
  if (!(error instanceof ApiError)) return "";
  const { code, message } = error.status;
  if (code === 401)
    return `: the server rejects the credentials in ${files}; they are invalid or have expired. Get a newer kubeconfig, and specify it with --kubeconfig FILE`;
  if (code === 403 && DENIED.test(message ?? ""))
    return `. Ask the administrator of the server for this permission, or use a kubeconfig other than ${files}`;
  if (code === 404 && message === NOT_SERVED)
    return `; is ${files} the kubeconfig of a hub? Specify the hub's with --kubeconfig FILE`;
  return "";
}
