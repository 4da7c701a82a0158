//! The manifest and the configuration that stand for a component: the format of the tools around it, as `wkg` and
//! registries' own pages know it (<https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/>).

use std::collections::BTreeMap;

use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use serde::Serialize;

use super::digest::Digest;
use crate::runtime::MAX_COMPONENT_BYTES;

/// What the one layer is.
const LAYER: &str = "application/wasm";
/// What the configuration is.
pub(super) const CONFIG: &str = "application/vnd.wasm.config.v0+json";
/// Where the signature is, in the layer's annotations.
const SIGNATURE: &str = "belljar.signature.minisign";

/// What stands in the configuration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    /// The format wants one, and the same component is to be the same artifact whenever it is pushed.
    created: &'static str,
    architecture: &'static str,
    /// For a component, whatever it imports.
    os: &'static str,
    layer_digests: [&'a str; 1],
    component: Interfaces<'a>,
}

#[derive(Serialize)]
struct Interfaces<'a> {
    imports: &'a [String],
    exports: &'a [String],
    target: Option<&'static str>,
}

/// A component as a registry has it.
pub(super) struct Artifact {
    pub(super) config: Vec<u8>,
    pub(super) manifest: OciImageManifest,
}

impl Artifact {
    pub(super) fn new(
        bytes: &[u8],
        signature: Option<&str>,
        imports: &[String],
        exports: &[String],
    ) -> serde_json::Result<Self> {
        let digest = Digest::of(bytes).to_string();
        let config = serde_json::to_vec(&Config {
            created: "1970-01-01T00:00:00Z",
            architecture: "wasm",
            os: "wasip2",
            layer_digests: [&digest],
            component: Interfaces {
                imports,
                exports,
                target: None,
            },
        })?;
        let descriptor = |media_type: &str, bytes: &[u8]| OciDescriptor {
            media_type: media_type.to_owned(),
            digest: Digest::of(bytes).to_string(),
            size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            ..OciDescriptor::default()
        };
        let mut layer = descriptor(LAYER, bytes);
        layer.annotations =
            signature.map(|text| BTreeMap::from([(SIGNATURE.to_owned(), text.to_owned())]));
        Ok(Self {
            manifest: OciImageManifest {
                media_type: Some(OCI_IMAGE_MEDIA_TYPE.to_owned()),
                config: descriptor(CONFIG, &config),
                layers: vec![layer],
                ..OciImageManifest::default()
            },
            config,
        })
    }
}

/// The component's layer, where the manifest is one of a component; else why it is not.
pub(super) fn layer(manifest: &OciImageManifest) -> Result<&OciDescriptor, String> {
    let kind = &manifest.config.media_type;
    if kind != CONFIG {
        return Err(format!("it is of the kind {kind}"));
    }
    let [layer] = manifest.layers.as_slice() else {
        return Err(format!("it has {} layers", manifest.layers.len()));
    };
    if layer.media_type != LAYER {
        return Err(format!("its layer is of the kind {}", layer.media_type));
    }
    match u64::try_from(layer.size) {
        Ok(size) if size <= MAX_COMPONENT_BYTES => Ok(layer),
        _ => Err(format!(
            "it says that it has {} bytes, and a component has at most {MAX_COMPONENT_BYTES}",
            layer.size
        )),
    }
}

/// The signature that came with it.
pub(super) fn signature(layer: &OciDescriptor) -> Option<&str> {
    let annotations = layer.annotations.as_ref()?;
    annotations.get(SIGNATURE).map(String::as_str)
}
