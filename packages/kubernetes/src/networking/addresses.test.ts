import { expect, test } from "vitest";
import { required } from "@flotilla/base";
import {
  addressWarnings,
  checkAddress,
  checkCanonicalAddress,
  checkEndpointAddress,
  checkNetwork,
  formatAddress,
  isStrictlyWithin,
  networkWarnings,
  parseAddress,
  parseNetwork,
} from "./addresses.ts";

const canonical: Record<string, [text: string, want: string | undefined]> = {
  "IPv4 is dotted": ["10.9.8.7", "10.9.8.7"],
  "leading zeros are parsed as decimal": ["010.001.000.7", "10.1.0.7"],
  "IPv6 is compressed": ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  "the longest run of zeros is compressed, the first of two": ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
  "a single zero is kept": ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
  "the unspecified address is valid": ["::", "::"],
  "IPv4-mapped IPv6 counts as IPv4": ["::ffff:1.2.3.4", "1.2.3.4"],
  "an octet is at most 255": ["1.2.3.256", undefined],
  "an address with a zone is invalid": ["fe80::1%eth0", undefined],
  "a name is not an address": ["example.com", undefined],
};
for (const [behaviour, [text, want]] of Object.entries(canonical)) {
  test(behaviour, () => {
    const address = parseAddress(text);

    expect(address && formatAddress(address)).toBe(want);
  });
}

test("a very long text is not parsed", () => {
  expect(parseAddress("1".repeat(100_000))).toBeUndefined();
});

const refusals: Record<string, [errors: { message: string }[], want: string[]]> = {
  "a text that is not an address": [
    checkAddress("f", "x"),
    ['Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  "leading zeros": [checkAddress("f", "1.2.3.04"), ['Invalid value: "1.2.3.04": must not have leading 0s']],
  "an IPv4-mapped IPv6 address": [
    checkAddress("f", "::ffff:1.2.3.4"),
    ['Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address'],
  ],
  "none for a value that was stored before": [checkAddress("f", "1.2.3.04", ["1.2.3.04"]), []],
  "a non-canonical form where the canonical one is required": [
    checkCanonicalAddress("f", "2001:0db8::1"),
    ['Invalid value: "2001:0db8::1": must be in canonical form ("2001:db8::1")'],
  ],
  "a loopback endpoint": [
    checkEndpointAddress("f", "127.0.0.1"),
    ['Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  "a link-local endpoint": [
    checkEndpointAddress("f", "fe80::1"),
    ['Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ],
  "an unspecified endpoint": [
    checkEndpointAddress("f", "0.0.0.0"),
    ['Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)'],
  ],
  "a text that is not a network": [
    checkNetwork("f", "10.0.0.0"),
    ['Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ],
  "bits after the prefix": [
    checkNetwork("f", "10.0.0.1/24"),
    ['Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
  ],
  "a prefix with leading zeros": [
    checkNetwork("f", "10.0.0.0/08"),
    ['Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length'],
  ],
};
for (const [what, [errors, want]] of Object.entries(refusals)) {
  test(`address errors: ${what}`, () => {
    expect(errors.map(({ message }) => message)).toEqual(want);
  });
}

test("warns of ambiguous forms", () => {
  expect(addressWarnings("f", "2001:0db8::1")).toEqual([
    'f: IPv6 address "2001:0db8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
  ]);
  expect(networkWarnings("f", "10.0.0.1/24")).toEqual([
    'f: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
  ]);
  expect(networkWarnings("f", "10.0.0.0/24")).toEqual([]);
});

test("a network is strictly within a larger one that contains it", () => {
  const within = (inner: string, outer: string): boolean =>
    isStrictlyWithin(required(parseNetwork(inner), inner), required(parseNetwork(outer), outer));

  expect(within("10.1.0.0/16", "10.0.0.0/8")).toBe(true);
  expect(within("10.0.0.0/8", "10.0.0.0/8")).toBe(false);
  expect(within("11.0.0.0/16", "10.0.0.0/8")).toBe(false);
  expect(within("2001:db8:1::/48", "2001:db8::/32")).toBe(true);
});
