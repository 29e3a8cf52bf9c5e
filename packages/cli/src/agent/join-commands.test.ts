import { expect, test } from "vitest";
import { joinCommands, renderTicket } from "./join-commands.ts";
import type { JoinTicket } from "./join-commands.ts";

const ocm: JoinTicket = {
  token: "abcdef.0123456789abcdef",
  server: "https://hub.example.com:6443",
  caHash: "sha256:0",
  through: "ocm",
  reusable: false,
};
const karmada: JoinTicket = { ...ocm, through: "karmada", reusable: true };

test("after writing a bootstrap kubeconfig, text and JSON output include the command that uses it", () => {
  const command =
    "flotilla agent --bootstrap-kubeconfig bootstrap.kubeconfig --cluster-kubeconfig FILE --cluster-name <cluster_name>";

  expect(joinCommands(ocm, "bootstrap.kubeconfig")).toMatchObject({ agent: command });
  expect(renderTicket(ocm, 1, "bootstrap.kubeconfig")).toContain(command);
  expect(joinCommands(ocm)).toMatchObject({ agent: undefined });
});

test("a token for one API prints only the commands of that API", () => {
  const [forOcm, forKarmada] = [renderTicket(ocm, 1, undefined), renderTicket(karmada, 2, undefined)];

  expect(Object.keys(joinCommands(ocm))).toEqual(["agent", "clusteradm"]);
  expect(Object.keys(joinCommands(karmada))).toEqual(["flotilla", "karmadactl"]);
  expect(forOcm).toContain("valid for 1 day and one cluster\n");
  expect(forOcm).not.toContain("register");
  expect(forKarmada).toContain("valid for 2 days and any number of clusters\n");
  expect(forKarmada).not.toContain("clusteradm");
});
