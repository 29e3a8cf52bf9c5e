/** A measured server, and helpers to combine the results and figures of two of them. */
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Figure } from "./benchmark.ts";

export interface Target {
  name: string;
  kubeconfig: string;
  startMs: number;
  pids: readonly number[];
  stop(): Promise<void>;
}

export async function expect(
  api: ApiConnection,
  status: number,
  method: string,
  path: string,
  body?: string,
  contentType?: string,
): Promise<void> {
  const answer = await api.call(method, path, body, contentType);
  if (answer.status !== status)
    throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text().slice(0, 300)}`);
}

export function compare(
  name: string,
  unit: string,
  better: Figure["better"],
  [value = NaN, peer]: readonly number[],
): Figure[] {
  return [{ name, unit, better, value, peer }];
}

const WIDTH = 32;

/** Runs `work` count times with this concurrency; returns the rate per second. */
export async function rate(count: number, work: (index: number) => Promise<void>, width = WIDTH): Promise<number> {
  const indices = Array.from({ length: count }, (_, index) => index).values();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const index of indices) await work(index);
    }),
  );
  return count / ((performance.now() - started) / 1000);
}
