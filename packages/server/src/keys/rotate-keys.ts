/**
 * Replaces the keys of a hub in three steps, with a restart of all API servers, one after the other, after each:
 * `prepare` adds new keys that are accepted, `activate` makes them sign, `retire` removes the old ones. At every time
 * each server accepts what any other one signs.
 *
 * Reads and writes: the files of the keys in a folder.
 */
import { join } from "node:path";
import { AUTHORITY_FILES, createCertificateAuthority, readPairs, writePairs } from "@flotilla/apimachinery";
import type { KeyPair } from "@flotilla/apimachinery";
import { createSigningKey, signingKeysIn } from "@flotilla/apiserver";
import type { Clock } from "@flotilla/base";
import type { KeyStep } from "@flotilla/cli";
import { writeSecret } from "../secret-file.ts";
import { ADMINISTRATOR_SECRETS, KeysError, newSecret, readKey, SIGNING_KEYS } from "./hub-keys.ts";

/** The keys of one file after a step: the first signs. Throws a sentence that follows the name of the file. Pure. */
export function planStep<T>(step: KeyStep, keys: readonly T[], added: T | undefined): T[] {
  const [first, second] = keys;
  if (first === undefined) throw new KeysError("has no key");
  if (step === "prepare") {
    if (second !== undefined) throw new KeysError("already has a second key; activate it, or retire the other one");
    return added === undefined ? [first] : [first, added];
  }
  if (second === undefined) throw new KeysError("has one key; prepare a second one first");
  return step === "activate" ? [second, first] : [first];
}

/** One file: its keys, and how they are made and written. */
interface KeyFile<T> {
  name: string;
  read(path: string): Promise<readonly T[]>;
  make(): T | Promise<T>;
  write(path: string, keys: readonly T[]): Promise<void>;
}

/** Changes all files of a folder; returns their names. */
export async function rotateKeys(directory: string, step: KeyStep, clock: Clock): Promise<string[]> {
  const authority = (name: "ca.pem" | "front-proxy-ca.pem"): KeyFile<KeyPair> => ({
    name,
    read: (path) => readPairs(path, true),
    make: () => createCertificateAuthority({ clock, commonName: AUTHORITY_FILES[name] }),
    write: writePairs,
  });
  const secrets = (name: string, read: (text: string) => string[], make: KeyFile<string>["make"]): KeyFile<string> => ({
    name,
    read: async (path) => read((await readKey(path)) ?? ""),
    make,
    write: (path, keys) => writeSecret(path, keys.map((key) => `${key.trim()}\n`).join("")),
  });
  // All plans first: a folder that is in the middle of another step is not changed at all.
  const plans = [
    await planFile(directory, step, authority("ca.pem")),
    await planFile(directory, step, authority("front-proxy-ca.pem")),
    await planFile(directory, step, secrets(SIGNING_KEYS, signingKeysIn, createSigningKey)),
    await planFile(directory, step, secrets(ADMINISTRATOR_SECRETS, linesIn, newSecret)),
  ];
  for (const { write } of plans) await write();
  return plans.map(({ name }) => name);
}

const linesIn = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

async function planFile<T>(
  directory: string,
  step: KeyStep,
  { name, read, make, write }: KeyFile<T>,
): Promise<{ name: string; write(): Promise<void> }> {
  const path = join(directory, name);
  try {
    const planned = planStep(step, await read(path), step === "prepare" ? await make() : undefined);
    return { name, write: () => write(path, planned) };
  } catch (error) {
    if (!(error instanceof KeysError)) throw error;
    throw new KeysError(`${path} ${error.message}`);
  }
}
