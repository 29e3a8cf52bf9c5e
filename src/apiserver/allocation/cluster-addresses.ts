/** The addresses of a cluster's Services, 10.96.0.0/16, as numbers. */
import type { PoolRange } from "./number-pool.ts";

const NETWORK = 10 * 2 ** 24 + 96 * 2 ** 16;

/**
 * Neither the network's own address nor the last one is anybody's, and the first is the API server's
 * (`apiServerService`). Those up to 10.96.0.255 are for people who ask for them.
 */
export const SERVICE_ADDRESSES: PoolRange = {
  first: NETWORK + 1,
  last: NETWORK + 2 ** 16 - 2,
  kept: 255,
  reserved: NETWORK + 1,
};

/** The number of an IPv4 address; undefined for any other text. */
export function parseClusterAddress(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  const [, a, b, c, d] = match.map(Number) as [number, number, number, number, number];
  return a * 2 ** 24 + b * 2 ** 16 + c * 256 + d;
}

export function formatClusterAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
