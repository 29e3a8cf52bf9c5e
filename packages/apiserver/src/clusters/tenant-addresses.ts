/**
 * Addresses that logical clusters may not have the server call, with a webhook, an APIService or a conversion: those that
 * mean something else to the server's machine than to the tenant who names them. The hub's own administrators may.
 */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { HUB } from "@flotilla/apimachinery";
import type { BlockedSet } from "@flotilla/client";

/** The addresses that a cluster may not use; undefined where it may use all. */
export type BlockedAddresses = (cluster: string) => BlockedSet | undefined;

/** Metadata services and others of the cloud's host that are not link-local. */
const METADATA: readonly string[] = [
  // Amazon, Google
  "fd00:ec2::254",
  "fd20:ce::254",
  // Alibaba, Azure
  "100.100.100.200",
  "168.63.129.16",
];

/**
 * Link-local addresses include the metadata services of most clouds. Loopback and the machine's own addresses are blocked
 * only if clients connect from other machines: otherwise every tenant has an account on this one.
 */
export function blockedAddresses({
  isExposed,
  ownAddresses = addressesOfInterfaces,
}: {
  isExposed: boolean;
  ownAddresses?: (() => readonly string[]) | undefined;
}): BlockedAddresses {
  const always = new BlockList();
  block(always, "169.254.0.0", 16);
  block(always, "fe80::", 10);
  for (const address of METADATA) block(always, address);
  block(always, "224.0.0.0", 4);
  block(always, "ff00::", 8);
  if (isExposed) {
    // The unspecified address leads to loopback, too.
    block(always, "0.0.0.0", 8);
    block(always, "127.0.0.0", 8);
    block(always, "::");
    block(always, "::1");
  }
  const blocked: BlockedSet = {
    check(given, family) {
      const address = withoutZone(given);
      if (always.check(address, family)) return true;
      if (!isExposed) return false;
      // Read for each connection: interfaces come and go.
      const own = new BlockList();
      for (const each of ownAddresses()) block(own, withoutZone(each));
      return own.check(address, family);
    },
  };
  return (cluster) => (cluster === HUB ? undefined : blocked);
}

/** An IPv4 address is blocked in its mapped form as well, by `BlockList`, and with the prefix of NAT64 (RFC 6052). */
function block(list: BlockList, address: string, prefix = isIP(address) === 6 ? 128 : 32): void {
  if (isIP(address) === 6) return list.addSubnet(address, prefix, "ipv6");
  list.addSubnet(address, prefix, "ipv4");
  list.addSubnet(`64:ff9b::${address}`, 96 + prefix, "ipv6");
}

/** `fe80::1%eth0` names an interface, too, and a `BlockList` contains no address with one. */
const withoutZone = (address: string): string => address.replace(/%.*$/, "");

const addressesOfInterfaces = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
