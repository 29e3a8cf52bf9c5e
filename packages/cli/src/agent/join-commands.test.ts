import { expect, test } from "vitest";
import { joinCommands, renderTicket } from "./join-commands.ts";

const ticket = { token: "abcdef.0123456789abcdef", server: "https://hub.example.com:6443", caHash: "sha256:0" };

test("after writing a bootstrap kubeconfig, text and JSON output include the command that uses it", () => {
  const command =
    "flotilla agent --bootstrap-kubeconfig bootstrap.kubeconfig --cluster-kubeconfig FILE --cluster-name <cluster_name>";

  expect(joinCommands(ticket, "bootstrap.kubeconfig").agent).toBe(command);
  expect(renderTicket(ticket, 1, "bootstrap.kubeconfig")).toContain(command);
  expect(joinCommands(ticket).agent).toBeUndefined();
});
