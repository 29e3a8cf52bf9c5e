import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { readClusterInfo } from "./discovery.ts";

const TOKEN = "abcdef.0123456789abcdef";
const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "", cluster: { server: "https://hub.example.com:6443" } }],
});

function signed(content: string, secret = "0123456789abcdef"): Record<string, string> {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: "abcdef" })).toString("base64url");
  const signature = createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(content).toString("base64url")}`)
    .digest("base64url");
  return { kubeconfig: content, "jws-kubeconfig-abcdef": `${header}..${signature}` };
}
const trusting = { token: TOKEN, caHashes: [], trustsAnyAuthority: true };

test("accepts cluster-info that is signed with the token", () => {
  expect(readClusterInfo(signed(kubeconfig), trusting)).toEqual({ server: "https://hub.example.com:6443", ca: "" });
});

const refused: Record<string, { data: Record<string, string>; options?: Partial<typeof trusting>; why: RegExp }> = {
  "signed with another token": { data: signed(kubeconfig, "fedcba9876543210"), why: /not signed with this token/ },
  "changed after it was signed": {
    data: { ...signed(kubeconfig), kubeconfig: kubeconfig.replace("hub", "evil") },
    why: /not signed with this token/,
  },
  "not signed for this token": { data: { kubeconfig }, why: /does not recognize token abcdef/ },
  "of another certificate authority": {
    data: signed(kubeconfig),
    options: { trustsAnyAuthority: false, caHashes: ["sha256:00"] as never[] },
    why: /certificate authority does not match sha256:00/,
  },
  "requested with a malformed token": {
    data: signed(kubeconfig),
    options: { token: "__proto__" },
    why: /must have the form/,
  },
};
for (const [behaviour, { data, options, why }] of Object.entries(refused)) {
  test(`rejects cluster-info ${behaviour}`, () => {
    expect(() => readClusterInfo(data, { ...trusting, ...options })).toThrow(why);
  });
}
