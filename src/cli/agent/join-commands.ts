/** The commands with which a cluster joins, for whoever copies them to its administrator. Pure. */
import { X509Certificate, hash } from "node:crypto";
import { wrapCommand, wrapLines } from "../text-layout.ts";

export interface JoinTicket {
  token: string;
  /** `https://hub.example.com:6443` */
  server: string;
  /** `sha256:…`; empty when the hub's certificate is one that everybody trusts. */
  caHash: string;
}

/** The digest of an authority's public key, as kubeadm's and Karmada's tools compare it. Empty for no authority. */
export function authorityHash(ca: string): string {
  if (ca === "") return "";
  return `sha256:${hash("sha256", new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" }), "hex")}`;
}

export type JoinCommands = {
  /** Karmada's way. */
  flotilla: string;
  karmadactl: string;
  /** Open Cluster Management's way; unset where no bootstrap kubeconfig was written. */
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

/** Commands that are too long for the terminal go on in the next line, so that they can be copied all the same. */
export function renderTicket(
  ticket: JoinTicket,
  days: number,
  bootstrapFile: string | undefined,
  width?: number,
): string {
  const { flotilla, karmadactl, agent, clusteradm } = joinCommands(ticket, bootstrapFile);
  const command = (line: string): string => wrapCommand(line, width, "  ");
  return [
    `token=${ticket.token}   good for ${days} day${days === 1 ? "" : "s"}`,
    "",
    "On the cluster that joins, Karmada's way:",
    command(flotilla),
    command(karmadactl),
    "",
    wrapLines("or Open Cluster Management's, which 'flotilla accept <cluster_name>' answers on the hub:", width),
    ...(agent === undefined ? [] : [command(agent)]),
    command(clusteradm),
  ].join("\n");
}
