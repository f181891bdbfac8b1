//! Lets the linker leave the functions of Node unresolved until it loads the addon.

fn main() {
    napi_build::setup();
}
