/**
 * Addresses that a connection must not be made to, whatever name leads to them. A name is resolved once, and the address
 * that was checked is the one that is used, so that a name that changes its address gains nothing.
 */
import { lookup as resolveName } from "node:dns";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { FlotillaError } from "@flotilla/base";

/** Asked for each connection; a `BlockList` is one. */
export interface BlockedSet {
  check(address: string, family: "ipv4" | "ipv6"): boolean;
}

export class BlockedAddressError extends FlotillaError {
  constructor(host: string) {
    super("BlockedAddress", `${host} is or leads to an address that this cluster may not use`);
  }
}

/** Options for `net`, `tls` and `https` that resolve names to permitted addresses only. Throws for an address that is blocked. */
export function connectUnless(blocked: BlockedSet | undefined, host: string): { lookup?: LookupFunction } {
  if (!blocked) return {};
  if (isIP(host) !== 0 && isBlocked(blocked, host)) throw new BlockedAddressError(host);
  return {
    lookup(name, options, done) {
      resolveName(name, options, (error, address, family) => {
        const found = typeof address === "string" ? [address] : (address ?? []).map((each) => each.address);
        if (!error && found.some((each) => isBlocked(blocked, each)))
          done(new BlockedAddressError(name), address, family);
        else done(error, address, family);
      });
    },
  };
}

const isBlocked = (blocked: BlockedSet, address: string): boolean =>
  blocked.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
