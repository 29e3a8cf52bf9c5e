export { createAgent, type Agent, type AgentOptions, type HubApis as Faces } from "./create-agent.ts";
export {
  credentialsIn,
  createSecretStore,
  ensureAgentNamespace,
  filesOf,
  type CredentialStore,
} from "./credentials/credential-store.ts";
export { kubeconfigOf, latestOf, type HubAddress, type HubCredentials } from "./credentials/hub-credentials.ts";
export { karmadaIdentity, managedClusterIdentity, type AgentIdentity } from "./credentials/identity.ts";
export {
  createCredentialKeeper,
  NameTakenError,
  type CredentialKeeper,
  type Rotation,
} from "./credentials/keep-credentials.ts";
export { requestCertificate } from "./credentials/request-certificate.ts";
export { readClusterInfo } from "./discovery.ts";
export { karmadaAccess } from "./karmada-access.ts";
export {
  introduce,
  registrationStateOf as standingOf,
  type RegistrationState as Standing,
} from "./managed-cluster/introduce.ts";
export type { AgentMembers } from "./members.ts";
export { createRealMember } from "./real-member.ts";
export { runAgent } from "./run-agent.ts";
