import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { CertificateSigningRequest } from "./certificatesigningrequest-kind.ts";
import { rules } from "./certificatesigningrequest-rules.ts";

/** For the user `tester`, signed with a discarded Ed25519 key. */
const EXAMPLE_REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUU1FUUNBUUF3RVRFUE1BMEdBMVVFQXd3R2RHVnpkR1Z5TUNv" +
  "d0JRWURLMlZ3QXlFQU5qc3hQUCtxbFNuKwp2WEVsQWNnR0xkUlJobEN0ajlGYjRuODI3YTlFbi9PZ0FEQUZCZ01yWlhBRFFRQ01U" +
  "bXdXSEFvSU5jMkZJbVBKCjFuYmZWZzZsQ2VDdEE1UFQyUmVnUmphNFE2VVMzUFJ4UE0zdGZBNnFzaWloZ1QyaGFYS1VmNUhjc1ho" +
  "K2xscDAKTFdzRgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

export const certificateSigningRequest = defineKind({
  kind: CertificateSigningRequest,
  rules,
  example: exampleOf(CertificateSigningRequest, {
    spec: { request: EXAMPLE_REQUEST, signerName: "example.com/signer", usages: ["client auth"], username: "tester" },
  }),
});
