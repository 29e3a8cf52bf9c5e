/**
 * Tokens of administrators in a file of the data directory: the newest, and earlier ones until they expire. A token that
 * has lived half of its time gets a successor, so that a client that reads the kubeconfig again in the other half
 * stays connected.
 *
 * Reads and writes: the file, one line for each token with the time of its end. A file of an earlier release has a token
 * without an end; it is given one.
 */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { formatTime, systemRandom } from "@flotilla/base";
import { writeSecret } from "../secret-file.ts";

export interface AdministratorToken {
  readonly token: string;
  readonly expiresMs: number;
}

/** What the file should have: the newest first. The same list when nothing changes. Pure. */
export function planTokens(
  kept: readonly AdministratorToken[],
  { nowMs, lifetimeMs, makeToken }: { nowMs: number; lifetimeMs: number; makeToken(): string },
): readonly AdministratorToken[] {
  const live = kept.filter(({ expiresMs }) => expiresMs > nowMs);
  const [newest] = live;
  if (newest && newest.expiresMs - nowMs > lifetimeMs / 2) return live.length === kept.length ? kept : live;
  return [{ token: makeToken(), expiresMs: nowMs + lifetimeMs }, ...live];
}

/** The tokens of a file, after it was brought up to date. */
export async function keepTokens(
  path: string,
  times: { nowMs: number; lifetimeMs: number },
): Promise<readonly AdministratorToken[]> {
  const kept = await readTokens(path, times);
  const planned = planTokens(kept.tokens, { ...times, makeToken: newToken });
  if (planned === kept.tokens && !kept.isOld) return planned;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeSecret(path, planned.map(({ token, expiresMs }) => `${token} ${formatTime(expiresMs)}\n`).join(""));
  return planned;
}

async function readTokens(
  path: string,
  { nowMs, lifetimeMs }: { nowMs: number; lifetimeMs: number },
): Promise<{ tokens: AdministratorToken[]; isOld: boolean }> {
  let text = "";
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const tokens = lines.map((line) => {
    const [token = "", end] = line.trim().split(" ");
    const expiresMs = end === undefined ? Number.NaN : Date.parse(end);
    return { token, expiresMs: Number.isNaN(expiresMs) ? nowMs + lifetimeMs / 2 : expiresMs };
  });
  return { tokens, isOld: lines.some((line) => !line.trim().includes(" ")) };
}

const newToken = (): string => Buffer.from(systemRandom.bytes(32)).toString("base64url");
