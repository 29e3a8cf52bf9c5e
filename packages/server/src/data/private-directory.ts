/**
 * Keeps the data directory private: it holds keys and tokens, and a user who may write to it becomes an administrator.
 * Files that another user owns or may have written are rejected; read permissions of others are removed.
 *
 * Reads: owner and mode of the directory, of `pki` and everything in it, and of the store. Writes: their mode.
 */
import { chmodSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { FlotillaError } from "@flotilla/base";
import { STORE } from "./data-directory.ts";

export interface OwnedFile {
  /** Relative to the data directory; empty for the directory itself. */
  path: string;
  /** The user id of its owner. */
  owner: number;
  mode: number;
  isDirectory: boolean;
  isLink: boolean;
  /** A directory that also holds files of other programs. Its mode is not changed. */
  isShared?: boolean;
}

/** What to do about the files: the first that is not trusted, or those whose mode is changed. */
export type TrustPlan = { rejected: OwnedFile; because: string } | { tightened: readonly OwnedFile[] };

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;
const OF_OTHERS = 0o077;
/** Of directories that are meant for several users, such as the one for temporary files. */
const STICKY = 0o1000;
/** What processes of a fleet write to the data directory. */
const OURS = /^(?:flotilla\.(?:db|log).*|decisions\.jsonl.*|pki|.+\.kubeconfig|up\.json|last-snapshot)$/;

/** `user` is the user id of this process. Pure. */
export function planTrust(files: readonly OwnedFile[], user: number): TrustPlan {
  for (const file of files) {
    const because = reasonAgainst(file, user);
    if (because !== undefined) return { rejected: file, because };
  }
  return { tightened: files.filter(({ mode, isLink, isShared }) => !isLink && !isShared && (mode & OF_OTHERS) !== 0) };
}

function reasonAgainst(file: OwnedFile, user: number): string | undefined {
  const { owner, mode, isDirectory, isLink, isShared } = file;
  // The system's administrator may read and write everything anyway.
  if (owner !== user && owner !== ROOT) return "it belongs to another user";
  const isWritable = !isLink && (mode & WRITABLE_BY_OTHERS) !== 0;
  if (isWritable && !isDirectory) return "other users may write to it";
  // A directory of this user is tightened: what others put there belongs to them, and is rejected itself.
  if (isWritable && (owner !== user || isShared || (mode & STICKY) !== 0)) return "other users may write to it";
  return undefined;
}

/** Throws when another user may have written what this process would trust. Returns what was tightened. */
export function keepPrivate(data: string): string[] {
  const user = process.getuid?.();
  // Windows has no such owners and modes.
  if (user === undefined) return [];
  const plan = planTrust(trustedFiles(data), user);
  if ("rejected" in plan) {
    const path = join(data, plan.rejected.path);
    throw new FlotillaError(
      "DataDirectory",
      `using the data directory ${data}: ${path === data ? "" : `${path}: `}${plan.because}, so its keys and tokens cannot be trusted; ${
        plan.rejected.path === ""
          ? `choose a directory of your own with --data DIR, for example ${join(data, "flotilla")}`
          : "if you trust its contents, make it yours with chown and chmod 600; otherwise remove it"
      }`,
    );
  }
  for (const { path, mode } of plan.tightened) chmodSync(join(data, path), mode & 0o700);
  return plan.tightened.map(({ path }) => join(data, path));
}

/** The directory and what this process trusts in it. Kubeconfigs are not read, but written at each start. */
function trustedFiles(data: string): OwnedFile[] {
  const names = readdirSync(data, { withFileTypes: true }).map(({ name }) => name);
  const stores = names.filter((name) => name === STORE || name.startsWith(`${STORE}-`) || name.startsWith(`${STORE}.`));
  const keys = names.includes("pki")
    ? ["pki", ...readdirSync(join(data, "pki"), { recursive: true }).map((name) => join("pki", String(name)))]
    : [];
  const isShared = names.some((name) => !OURS.test(name));
  return [{ ...ownedFile(data, ""), isShared }, ...[...stores, ...keys].map((path) => ownedFile(data, path))];
}

function ownedFile(data: string, path: string): OwnedFile {
  // The directory itself may be named by a link.
  const file = path === "" ? statSync(data) : lstatSync(join(data, path));
  return {
    path,
    owner: file.uid,
    mode: file.mode & 0o7777,
    isDirectory: file.isDirectory(),
    isLink: file.isSymbolicLink(),
  };
}
