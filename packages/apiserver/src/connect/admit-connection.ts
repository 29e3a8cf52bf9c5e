/** Admits a connection to a pod, node or service. Policies and webhooks see its options as an object. */
import type { JsonObject } from "@flotilla/base";
import type { Authorizer } from "../request/authorize.ts";
import type { RequestContext } from "../request/context.ts";
import { Decisions } from "../request/decisions.ts";
import { flagOf } from "../request/options.ts";
import { admitUnstored } from "../configured-admission/configured-admission.ts";
import type { ConfiguredAdmission } from "../configured-admission/configured-admission.ts";

const OPTION_KINDS: Readonly<Record<string, string>> = {
  "pods/exec": "PodExecOptions",
  "pods/attach": "PodAttachOptions",
  "pods/portforward": "PodPortForwardOptions",
  "pods/proxy": "PodProxyOptions",
  "nodes/proxy": "NodeProxyOptions",
  "services/proxy": "ServiceProxyOptions",
};

export async function admitConnection(
  { configured, authorizer }: { configured: ConfiguredAdmission; authorizer: Pick<Authorizer, "decide"> },
  context: RequestContext,
  path: string,
): Promise<void> {
  const found = configured.find(context, "CONNECT");
  const { served, subresource = "", name } = context;
  const kind = OPTION_KINDS[`${served.resource.name.resource}/${subresource}`];
  if (!found || kind === undefined) return;
  const request = {
    context,
    decisions: new Decisions(authorizer),
    operation: "CONNECT" as const,
    kind: { group: "", version: "v1", kind },
    name,
    dryRun: false,
    options: undefined,
    object: { kind, apiVersion: "v1", ...optionsOf(context, subresource, path) },
    oldObject: undefined,
  };
  // What is changed has no effect: the connection is made as it was requested.
  await admitUnstored(configured, found, request);
}

const FLAGS = ["stdin", "stdout", "stderr", "tty"];

function optionsOf({ query }: RequestContext, subresource: string, path: string): JsonObject {
  if (subresource === "proxy") return path === "" ? {} : { path: `/${path}` };
  if (subresource === "portforward") {
    const ports = query
      .getAll("ports")
      .flatMap((text) => text.split(",").map(Number))
      .filter(Number.isInteger);
    return ports.length > 0 ? { ports } : {};
  }
  const options: JsonObject = {};
  for (const flag of FLAGS) if (flagOf(query.get(flag))) options[flag] = true;
  const container = query.get("container");
  if (container) options.container = container;
  const command = query.getAll("command");
  if (subresource === "exec" && command.length > 0) options.command = command;
  return options;
}
