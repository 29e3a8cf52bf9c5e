/** The addresses of a cluster's Services, 10.96.0.0/16, as numbers. */
import type { PoolRange } from "./number-pool.ts";

const NETWORK = 10 * 2 ** 24 + 96 * 2 ** 16;

/**
 * The network and broadcast addresses are never allocated, and the first address belongs to the API server
 * (`apiServerService`). Addresses up to 10.96.0.255 are kept for explicit requests.
 */
export const SERVICE_ADDRESSES: PoolRange = {
  first: NETWORK + 1,
  last: NETWORK + 2 ** 16 - 2,
  kept: 255,
  reserved: NETWORK + 1,
};

/** The number of an IPv4 address; undefined for any other string. */
export function parseClusterAddress(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return undefined;
  const [, a, b, c, d] = match.map(Number) as [number, number, number, number, number];
  return a * 2 ** 24 + b * 2 ** 16 + c * 256 + d;
}

export function formatClusterAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
