/** The commands with which a cluster joins, to be copied to its administrator. Pure. */
import { X509Certificate, hash } from "node:crypto";
import { wrapCommand, wrapLines } from "../text-layout.ts";

export interface JoinTicket {
  token: string;
  /** `https://hub.example.com:6443` */
  server: string;
  /** `sha256:…`; empty when the hub's certificate is issued by a publicly trusted CA. */
  caHash: string;
}

/** The digest of a CA's public key, as kubeadm's and Karmada's tools compare it. Empty without a CA. */
export function authorityHash(ca: string): string {
  if (ca === "") return "";
  return `sha256:${hash("sha256", new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" }), "hex")}`;
}

export type JoinCommands = {
  /** Registers through Karmada's API. */
  flotilla: string;
  karmadactl: string;
  /** Registers through Open Cluster Management's API; unset where no bootstrap kubeconfig was written. */
  agent?: string;
  clusteradm: string;
};

export function joinCommands({ token, server, caHash }: JoinTicket, bootstrapFile?: string): JoinCommands {
  const host = server.replace(/^https:\/\//, "");
  const discovery = `--token ${token} ${caHash === "" ? "--discovery-token-unsafe-skip-ca-verification" : `--discovery-token-ca-cert-hash ${caHash}`}`;
  return {
    flotilla: `flotilla register ${host} ${discovery} --cluster-kubeconfig FILE --cluster-name <cluster_name>`,
    karmadactl: `karmadactl register ${host} ${discovery} --kubeconfig FILE --cluster-name <cluster_name>`,
    agent:
      bootstrapFile !== undefined
        ? `flotilla agent --bootstrap-kubeconfig ${bootstrapFile} --cluster-kubeconfig FILE --cluster-name <cluster_name>`
        : undefined,
    clusteradm: `clusteradm join --hub-token ${token} --hub-apiserver ${server} --wait --cluster-name <cluster_name>`,
  };
}

/** Commands longer than the terminal's width are wrapped with backslashes, so that they can still be copied. */
export function renderTicket(
  ticket: JoinTicket,
  days: number,
  bootstrapFile: string | undefined,
  width?: number,
): string {
  const { flotilla, karmadactl, agent, clusteradm } = joinCommands(ticket, bootstrapFile);
  const command = (line: string): string => wrapCommand(line, width, "  ");
  return [
    `token=${ticket.token}   valid for ${days} day${days === 1 ? "" : "s"}`,
    "",
    "On the cluster that joins, through Karmada's API:",
    command(flotilla),
    command(karmadactl),
    "",
    wrapLines(
      "or through Open Cluster Management's API, to be accepted on the hub with 'flotilla accept <cluster_name>':",
      width,
    ),
    ...(agent === undefined ? [] : [command(agent)]),
    command(clusteradm),
  ].join("\n");
}
