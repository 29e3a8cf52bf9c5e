/** The commands with which a cluster joins, to be copied to its administrator. Pure. */
import { X509Certificate, hash } from "node:crypto";
import { wrapCommand, wrapLines } from "../text-layout.ts";

/** Open Cluster Management's API and Karmada's. */
export const JOIN_APIS = ["ocm", "karmada"] as const;
export type JoinApi = (typeof JOIN_APIS)[number];

export interface JoinTicket {
  token: string;
  /** `https://hub.example.com:6443` */
  server: string;
  /** `sha256:…`; empty when the hub's certificate is issued by a publicly trusted CA. */
  caHash: string;
  through: JoinApi;
  /** Several clusters may join with the token. */
  reusable: boolean;
}

/** The digest of a CA's public key, as kubeadm's and Karmada's tools compare it. Empty without a CA. */
export function authorityHash(ca: string): string {
  if (ca === "") return "";
  return `sha256:${hash("sha256", new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" }), "hex")}`;
}

/** By the program that joins. `agent` is unset where no bootstrap kubeconfig was written. */
export type JoinCommands = { flotilla: string; karmadactl: string } | { agent?: string; clusteradm: string };

export function joinCommands({ token, server, caHash, through }: JoinTicket, bootstrapFile?: string): JoinCommands {
  if (through === "ocm")
    return {
      agent:
        bootstrapFile !== undefined
          ? `flotilla agent --bootstrap-kubeconfig ${bootstrapFile} --cluster-kubeconfig FILE --cluster-name <cluster_name>`
          : undefined,
      clusteradm: `clusteradm join --hub-token ${token} --hub-apiserver ${server} --wait --cluster-name <cluster_name>`,
    };
  const host = server.replace(/^https:\/\//, "");
  const discovery = `--token ${token} ${caHash === "" ? "--discovery-token-unsafe-skip-ca-verification" : `--discovery-token-ca-cert-hash ${caHash}`}`;
  return {
    flotilla: `flotilla register ${host} ${discovery} --cluster-kubeconfig FILE --cluster-name <cluster_name>`,
    karmadactl: `karmadactl register ${host} ${discovery} --kubeconfig FILE --cluster-name <cluster_name> --enable-cert-rotation`,
  };
}

/** Commands longer than the terminal's width are wrapped with backslashes, so that they can still be copied. */
export function renderTicket(
  ticket: JoinTicket,
  days: number,
  bootstrapFile: string | undefined,
  width?: number,
): string {
  const commands = joinCommands(ticket, bootstrapFile);
  const command = (line: string): string => wrapCommand(line, width, "  ");
  const text = (line: string): string => wrapLines(line, width);
  const uses = ticket.reusable ? "any number of clusters" : "one cluster";
  return [
    text(`token=${ticket.token}   valid for ${days} day${days === 1 ? "" : "s"} and ${uses}`),
    "",
    ...("clusteradm" in commands
      ? [
          text(
            "On the cluster that joins, through Open Cluster Management's API; then accept it on the hub with 'flotilla accept <cluster_name>':",
          ),
          ...(commands.agent === undefined ? [] : [command(commands.agent)]),
          command(commands.clusteradm),
          ...(commands.agent === undefined
            ? [
                "",
                text(
                  "For 'flotilla agent', run 'flotilla token --bootstrap-kubeconfig FILE'; for Karmada's API, --through karmada.",
                ),
              ]
            : []),
        ]
      : [
          "On the cluster that joins, through Karmada's API:",
          command(commands.flotilla),
          "",
          text("or, once an administrator has approved its request with 'kubectl certificate approve':"),
          command(commands.karmadactl),
        ]),
  ].join("\n");
}
