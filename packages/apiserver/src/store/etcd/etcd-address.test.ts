import { expect, test } from "vitest";
import { parseEtcdAddress } from "./etcd-address.ts";

const valid: Record<string, { text: string; want: { endpoints: string[]; prefix: string; user?: object } }> = {
  "has etcd's port and the prefix /flotilla by default": {
    text: "etcd://etcd1",
    want: { endpoints: ["http://etcd1:2379/"], prefix: "/flotilla" },
  },
  "has several endpoints, also by IPv6": {
    text: "etcd://127.0.0.1:2379,[::1]:12379",
    want: { endpoints: ["http://127.0.0.1:2379/", "http://[::1]:12379/"], prefix: "/flotilla" },
  },
  "uses TLS for etcds": {
    text: "etcds://etcd1:443/fleet/",
    want: { endpoints: ["https://etcd1/"], prefix: "/fleet" },
  },
  "has a percent-encoded user and password": {
    text: "etcd://hub:p%40ss:word@etcd1:2379/a/b",
    want: { endpoints: ["http://etcd1:2379/"], prefix: "/a/b", user: { name: "hub", password: "p@ss:word" } },
  },
  "has a user whose password is in a file": {
    text: "etcd://hub@etcd1",
    want: { endpoints: ["http://etcd1:2379/"], prefix: "/flotilla", user: { name: "hub", password: "" } },
  },
};
test.each(Object.entries(valid))("an address %s", (_behaviour, { text, want }) => {
  const { endpoints, prefix, user } = parseEtcdAddress(text);

  expect({ endpoints: endpoints.map(String), prefix, user }).toEqual(want);
});

const invalid: Record<string, { text: string; message: string }> = {
  "another scheme": { text: "http://etcd1:2379", message: "--store must be etcd://" },
  "no host": { text: "etcd://", message: "--store must be etcd://" },
  "an empty host in the list": { text: "etcd://a,,b", message: '"" is not a host' },
  "a port that does not exist": { text: "etcd://a:70000", message: '"a:70000" is not a host' },
  "no name before the @": { text: "etcd://:secret@a", message: "--store must be etcd://NAME@HOST:PORT" },
  "a name that is not percent-encoded": { text: "etcd://%zz:secret@a", message: "not percent-encoded" },
};
test.each(Object.entries(invalid))("rejects %s without the password", (_what, { text, message }) => {
  expect(() => parseEtcdAddress(text)).toThrow(message);
  expect(() => parseEtcdAddress(text)).not.toThrow("secret");
});
