/**
 * Authorizes writes to CertificateSigningRequests beyond the right to write them: approving and signing need a right on
 * the signer, and requests for a client certificate of system:masters are rejected.
 */
import { CLIENT_SIGNER } from "../../api/index.ts";
import { parseCertificateRequest } from "../../pki/index.ts";
import type { CertificateSigningRequest } from "../../api/index.ts";
import { equalJson } from "../../base/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { forbidden } from "../../machinery/index.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { writesKind } from "../plugin.ts";
import type { Authorizer } from "../request/authorize.ts";
import { textOf } from "../request/text.ts";
import { metadataOf } from "../write/metadata.ts";

const GROUP = "certificates.k8s.io";
const KIND = "CertificateSigningRequest";

type Request = DeepReadonly<CertificateSigningRequest>;

const readAs = (object: DeepReadonly<JsonObject> | undefined): Request => (object ?? {}) as unknown as Request;
const refused = ({ context, object }: PluginRequest, why: string): Error =>
  forbidden(context.served.resource.name, textOf(metadataOf(object as JsonObject).name ?? ""), why);

export interface CertificateRules {
  authorizer: Authorizer;
  /** Groups that no requested client certificate may carry. */
  restrictedGroups: readonly string[];
}

export function createCertificatePlugins({ authorizer, restrictedGroups }: CertificateRules): readonly Plugin[] {
  /** A right on one signer, or on all signers of its domain. */
  const isAllowed = ({ context: { cluster, user } }: PluginRequest, verb: string, signer: string): boolean =>
    [signer, `${signer.split("/")[0] ?? ""}/*`].some(
      (name) =>
        authorizer.decide({ user, cluster: cluster.name, verb, resource: { group: GROUP, resource: "signers", name } })
          .allowed,
    );

  return [
    {
      name: "CertificateApproval",
      group: GROUP,
      concerns: (context, operation) => operation === "UPDATE" && writesKind(context, GROUP, KIND, "approval"),
      validate(request) {
        const { signerName } = readAs(request.oldObject).spec;
        if (!isAllowed(request, "approve", signerName))
          throw refused(
            request,
            `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`,
          );
      },
    },
    {
      name: "CertificateSigning",
      group: GROUP,
      concerns: (context, operation) => operation === "UPDATE" && writesKind(context, GROUP, KIND, "status"),
      validate(request) {
        const old = readAs(request.oldObject);
        const { status = {} } = readAs(request.object);
        if (
          status.certificate === old.status?.certificate &&
          equalJson(status.conditions ?? [], old.status?.conditions ?? [])
        )
          return;
        const { signerName } = old.spec;
        if (!isAllowed(request, "sign", signerName))
          throw refused(request, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`);
      },
    },
    {
      name: "CertificateSubjectRestriction",
      group: GROUP,
      concerns: (context, operation) => operation === "CREATE" && writesKind(context, GROUP, KIND),
      validate(request) {
        const { signerName, request: text } = readAs(request.object).spec;
        if (signerName !== CLIENT_SIGNER) return;
        const { organizations } = parseCertificateRequest(text);
        const group = restrictedGroups.find((each) => organizations.includes(each));
        if (group !== undefined)
          throw refused(request, `use of ${CLIENT_SIGNER} signer with ${group} group is not allowed`);
      },
    },
  ];
}
