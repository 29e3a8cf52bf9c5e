/**
 * Where a hub listens and the address that clients connect to. Pure: the network interfaces are passed in.
 */
import { isIP } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { UsageError } from "@flotilla/base";

export interface AddressOptions {
  /** The address to listen on; unset means loopback, so that only this machine reaches the hub. */
  bindAddress?: string;
  /** The address or name that kubeconfigs, members and agents connect to; unset follows from the bind address. */
  advertiseAddress?: string;
  /** More names and addresses that the serving certificate is valid for. */
  tlsSans?: readonly string[];
}

export interface AddressPlan {
  bind: string;
  advertise: string;
  /** Whether other machines can connect. */
  isExposed: boolean;
  /** For the serving certificate, beside the local names. */
  hosts: readonly string[];
  /** Addresses of this machine on which anyone on the internet may reach the hub. */
  publicAddresses: readonly string[];
}

type Interfaces = Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, "address" | "internal">[] | undefined>>;

const LOOPBACK = "127.0.0.1";
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const HOST_NAME = /^[a-zA-Z0-9*]([a-zA-Z0-9.*-]{0,251}[a-zA-Z0-9])?$/;

/** Throws `UsageError` for an address that cannot be used. */
export function planAddress(options: AddressOptions, interfaces: Interfaces): AddressPlan {
  const { bindAddress: bind = LOOPBACK, tlsSans = [] } = options;
  if (isIP(bind) === 0)
    throw new UsageError(
      `--bind-address ${bind} is not an IP address; give one of this machine, or 0.0.0.0 for all of them`,
    );
  for (const name of [...tlsSans, ...(options.advertiseAddress === undefined ? [] : [options.advertiseAddress])])
    if (isIP(name) === 0 && !HOST_NAME.test(name))
      throw new UsageError(
        `'${name}' is not a host name or IP address; give --tls-san and --advertise-address without a port`,
      );

  const outside = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .map(({ address }) => address);
  const bound = EVERY_ADDRESS.has(bind)
    ? outside.filter((address) => bind === "::" || isIP(address) === 4)
    : isLoopback(bind)
      ? []
      : [bind];
  const advertise = options.advertiseAddress ?? (EVERY_ADDRESS.has(bind) ? (bound[0] ?? LOOPBACK) : bind);
  return {
    bind,
    advertise,
    // Behind a load balancer on the same machine a hub listens on loopback alone; clients know it by another name.
    isExposed: [bind, advertise, ...tlsSans].some((host) => !isLoopback(host)),
    hosts: [...new Set([advertise, ...bound, ...tlsSans])],
    publicAddresses: bound.filter(isPublic),
  };
}

/** Where a process reaches what itself listens on this address. */
export const localAddress = (bind: string): string => (EVERY_ADDRESS.has(bind) ? LOOPBACK : bind);

/** `https://10.0.0.5:6443`, with brackets around an IPv6 address. */
export const urlOf = (host: string, port: number): string => `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const isLoopback = (address: string): boolean =>
  address.startsWith("127.") || address === "::1" || address === "localhost";

/** Neither private (RFC 1918, RFC 4193, RFC 6598), nor link-local, nor loopback. */
export function isPublic(address: string): boolean {
  if (isLoopback(address)) return false;
  if (isIP(address) === 6) return !/^(f[cd]|fe[89ab])/i.test(address);
  const [a = 0, b = 0] = address.split(".").map(Number);
  if (a === 10 || (a === 192 && b === 168) || (a === 169 && b === 254)) return false;
  return !(a === 172 && b >= 16 && b <= 31) && !(a === 100 && b >= 64 && b <= 127);
}
