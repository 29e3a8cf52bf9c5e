/**
 * How a standby and `flotilla promote` talk: two files of the data directory. The standby writes where it is, the command
 * writes what it wants; both are replaced as a whole.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { StandbyState } from "@flotilla/cli";
import { readIfThere } from "../data/files.ts";
import { writeSecret } from "../secret-file.ts";

export const REPLICA = "standby.db";

const stateFile = (data: string): string => join(data, "standby.json");
const requestFile = (data: string): string => join(data, "promote.json");

export interface PromotionRequest {
  /** Names the request in the answer. */
  id: string;
  /** Also when the hub that it follows does not answer. */
  force: boolean;
}

/** Writes states one after the other: of those that wait only the last. */
export function createStateWriter(data: string): (state: StandbyState) => Promise<void> {
  let latest: StandbyState | undefined;
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    while (latest) {
      const state = latest;
      latest = undefined;
      await writeSecret(stateFile(data), `${JSON.stringify(state)}\n`);
    }
    writing = undefined;
  };
  return (state) => {
    latest = state;
    return (writing ??= write());
  };
}

export const readStandbyState = (data: string): Promise<StandbyState | undefined> =>
  read<StandbyState>(stateFile(data));

export const writePromotionRequest = (data: string, request: PromotionRequest): Promise<void> =>
  writeSecret(requestFile(data), `${JSON.stringify(request)}\n`);

/** Reads it once: the next call finds none. */
export async function takePromotionRequest(data: string): Promise<PromotionRequest | undefined> {
  const request = await read<PromotionRequest>(requestFile(data));
  if (request) await rm(requestFile(data), { force: true });
  return request;
}

async function read<T>(file: string): Promise<T | undefined> {
  const text = await readIfThere(file);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
