/**
 * Validates IP addresses and networks as Kubernetes does, with its errors and warnings.
 *
 * Older fields accept non-canonical forms with a warning. A stored value stays valid in any form, so checks take the
 * previous values.
 */
import { isIPv6 } from "node:net";
import { field, type FieldError } from "@flotilla/apimachinery";

export interface Address {
  /** An IPv4-mapped IPv6 address counts as IPv4. */
  readonly family: 4 | 6;
  /** Four or sixteen. */
  readonly bytes: readonly number[];
  /** Written as `::ffff:1.2.3.4`. */
  readonly isMapped: boolean;
  readonly hasLeadingZeros: boolean;
}

export interface Network {
  readonly address: Address;
  readonly prefixLength: number;
  readonly hasLeadingZeros: boolean;
}

/** No address or network is longer; the limit keeps parsing cheap. */
const MAX_LENGTH = 64;

export function parseAddress(text: string): Address | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  return text.includes(":") ? parseSix(text) : parseFour(text);
}

/** Parsed by hand, because an EndpointSlice has hundreds of them. */
function parseFour(text: string): Address | undefined {
  const bytes: number[] = [];
  let hasLeadingZeros = false;
  let value = 0;
  let digits = 0;
  for (let index = 0; index <= text.length; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && value === 0) hasLeadingZeros = true;
      value = value * 10 + digit;
      digits++;
    } else if (digits > 0 && value <= 255 && (index === text.length || digit === DOT - ZERO)) {
      bytes.push(value);
      value = 0;
      digits = 0;
    } else return undefined;
  }
  return bytes.length === 4 ? { family: 4, bytes, isMapped: false, hasLeadingZeros } : undefined;
}

const ZERO = "0".charCodeAt(0);
const DOT = ".".charCodeAt(0);

function parseSix(text: string): Address | undefined {
  const last = text.lastIndexOf(":") + 1;
  const tail = text.includes(".") ? parseFour(text.slice(last)) : undefined;
  const [a = 0, b = 0, c = 0, d = 0] = tail?.bytes ?? [];
  const plain = tail ? `${text.slice(0, last)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : text;
  if (plain.includes("%") || !isIPv6(plain)) return undefined;
  const [head = "", rest] = plain.split("::");
  const front = groupsOf(head);
  const back = groupsOf(rest ?? "");
  const groups = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  const hasLeadingZeros = tail?.hasLeadingZeros ?? false;
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped
    ? { family: 4, bytes: bytes.slice(12), isMapped, hasLeadingZeros }
    : { family: 6, bytes, isMapped, hasLeadingZeros };
}

const groupsOf = (text: string): number[] =>
  text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));

/** The canonical form: dotted, or that of RFC 5952. */
export function formatAddress({ family, bytes }: Pick<Address, "family" | "bytes">): string {
  if (family === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0));
  let best = { at: 0, length: 1 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  const text = (from: number, to?: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  return best.length === 1 ? text(0) : `${text(0, best.at)}::${text(best.at + best.length)}`;
}

export const isIPv6Text = (text: string): boolean => parseAddress(text)?.family === 6;

export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf("/");
  const address = slash < 0 ? undefined : parseAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (!address || !/^\d{1,9}$/.test(length) || Number(length) > (address.family === 4 && !address.isMapped ? 32 : 128))
    return undefined;
  return {
    address,
    prefixLength: Number(length),
    hasLeadingZeros: address.hasLeadingZeros || (length.length > 1 && length.startsWith("0")),
  };
}

/** The address with the bits after the prefix cleared. */
function masked({ address: { family, bytes }, prefixLength }: Network): Pick<Address, "family" | "bytes"> {
  return {
    family,
    bytes: bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, prefixLength - index * 8)))),
  };
}

const formatNetwork = (network: Network): string => `${formatAddress(masked(network))}/${network.prefixLength}`;
const isMasked = (network: Network): boolean => formatAddress(masked(network)) === formatAddress(network.address);

/** Whether `inner` is within `outer` and smaller. */
export function isStrictlyWithin(inner: Network, outer: Network): boolean {
  const { family } = inner.address;
  if (family !== outer.address.family || inner.prefixLength <= outer.prefixLength) return false;
  return formatAddress(masked({ ...inner, prefixLength: outer.prefixLength })) === formatAddress(masked(outer));
}

/** Undefined when the text is not a network. */
export const familyOfNetwork = (text: string): 4 | 6 | undefined => parseNetwork(text)?.address.family;

const NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Why a text is not an unambiguous address; undefined when it is one, in any form. */
function addressProblem(text: string): string | undefined {
  const address = parseAddress(text);
  if (!address) return NO_ADDRESS;
  if (address.hasLeadingZeros) return "must not have leading 0s";
  return address.isMapped ? "must not be an IPv4-mapped IPv6 address" : undefined;
}

/** `known`: previously stored values, which stay valid. */
export function checkAddress(path: string, text: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(text)) return [];
  const problem = addressProblem(text);
  return problem === undefined ? [] : [field.invalid(path, text, problem)];
}

/** Newer fields require the canonical form. */
export function checkCanonicalAddress(path: string, text: string): FieldError[] {
  return addressNameProblems(text).map((problem) => field.invalid(path, text, problem));
}

/** Validates the name of an object that represents an address: the canonical form of the address. */
export function addressNameProblems(name: string): string[] {
  const problem = addressProblem(name);
  const address = parseAddress(name);
  if (problem !== undefined || !address) return [problem ?? NO_ADDRESS];
  const canonical = formatAddress(address);
  return name === canonical ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

export function checkNetwork(path: string, text: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(text)) return [];
  const network = parseNetwork(text);
  if (!network) return [field.invalid(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
  if (network.hasLeadingZeros) return [field.invalid(path, text, "must not have leading 0s in IP or prefix length")];
  if (network.address.isMapped) return [field.invalid(path, text, "must not have an IPv4-mapped IPv6 address")];
  return isMasked(network) ? [] : [field.invalid(path, text, "must not have bits set beyond the prefix length")];
}

export function checkCanonicalNetwork(path: string, text: string): FieldError[] {
  const errors = checkNetwork(path, text);
  const network = parseNetwork(text);
  if (errors.length > 0 || !network) return errors;
  const canonical = formatNetwork(network);
  return text === canonical
    ? []
    : [field.invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** An interface address with its network: `10.9.8.7/24`. */
export function checkInterfaceAddress(path: string, text: string): FieldError[] {
  const network = parseNetwork(text);
  if (!network)
    return [field.invalid(path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")];
  const { address, prefixLength } = network;
  const canonical = `${formatAddress(address)}/${address.family === 4 && prefixLength > 32 ? prefixLength - 96 : prefixLength}`;
  return text === canonical
    ? []
    : [field.invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** Addresses that are unreachable from other hosts are not valid endpoints. */
export function checkEndpointAddress(path: string, text: string): FieldError[] {
  const address = parseAddress(text);
  if (!address) return [field.invalid(path, text, "must be a valid IP address")];
  const { family, bytes } = address;
  const [first = 0, second = 0, third = 0] = bytes;
  const isZeroUntil = (end: number): boolean => bytes.slice(0, end).every((byte) => byte === 0);
  if (isZeroUntil(bytes.length)) return [field.invalid(path, text, `may not be unspecified (${text})`)];
  if (family === 4 ? first === 127 : isZeroUntil(15) && bytes[15] === 1)
    return [field.invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")];
  if (family === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80)
    return [field.invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")];
  const isLinkLocalMulticast =
    family === 4 ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 2;
  return isLinkLocalMulticast
    ? [field.invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")]
    : [];
}

export function addressWarnings(path: string, text: string): string[] {
  const address = parseAddress(text);
  if (!address) return [];
  const canonical = formatAddress(address);
  if (address.hasLeadingZeros || address.isMapped)
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(canonical)}`];
  if (address.family === 4 || text === canonical) return [];
  return [
    `${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`,
  ];
}

export function networkWarnings(path: string, text: string): string[] {
  const network = parseNetwork(text);
  if (!network) return [];
  const { address } = network;
  const shown = JSON.stringify(text);
  const canonical = JSON.stringify(formatNetwork(network));
  const warnings: string[] = [];
  if (!isMasked(network)) {
    const single = JSON.stringify(`${formatAddress(address)}/${address.family === 4 ? 32 : 128}`);
    warnings.push(`${path}: CIDR value ${shown} is ambiguous in this context (should be ${canonical} or ${single}?)`);
  }
  if (network.hasLeadingZeros || address.isMapped)
    warnings.push(`${path}: non-standard CIDR value ${shown} is invalid: use ${canonical}`);
  if (warnings.length === 0 && address.family === 6 && shown !== canonical)
    warnings.push(`${path}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format (${canonical})`);
  return warnings;
}
