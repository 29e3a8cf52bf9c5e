/** Keeps an ImagePullJob until the copies of its Secrets are released. */
export const PROTECTION_FINALIZER = "apps.kruise.io/deletion-protection";
