//! The ledger on a server that uses TLS and requires a client certificate.

use std::{fs, path::Path};

use callwright_redis::ClientCertificate;

use super::*;

fn openssl(folder: &Path, arguments: &str) -> bool {
    let done = Command::new("openssl")
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}

/// Creates an authority, and a certificate signed by it.
fn certificates(folder: &Path) -> bool {
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").expect("a file");
    [
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=server -keyout own.key -out own.csr",
        "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out own.pem",
    ]
    .iter()
    .all(|arguments| openssl(folder, arguments))
}

#[test]
fn a_server_that_speaks_tls() {
    let port = free_port();
    let folder = env::temp_dir().join(format!("callwright-tls-{port}"));
    fs::create_dir_all(&folder).expect("a folder");
    if !certificates(&folder) {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let server = Server::spawn(
        port,
        &[
            "--port",
            "0",
            "--tls-port",
            &port.to_string(),
            "--tls-ca-cert-file",
            &file("ca.pem"),
            "--tls-cert-file",
            &file("own.pem"),
            "--tls-key-file",
            &file("own.key"),
        ],
    );
    let Some(server) = server else {
        return;
    };
    server.wait(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    let address = format!("rediss://127.0.0.1:{port}/0");
    let read = |name: &str| fs::read(folder.join(name)).expect("a file");
    let mut settings = patient();
    settings.root_certificate = Some(read("ca.pem"));
    settings.client_certificate = Some(ClientCertificate {
        certificate: read("own.pem"),
        key: read("own.key"),
    });
    let ledger = RedisLedger::new(&address, settings.clone()).expect("an address");
    for round in 0..4 {
        let ruling = ledger.open("s", &ask()).expect("it is there");
        assert_eq!(ruling.reason.is_none(), round < 3);
    }
    // A certificate that is not signed by a known authority is rejected.
    settings.root_certificate = None;
    let ledger = RedisLedger::new(&address, settings).expect("an address");
    assert!(ledger.open("s", &ask()).is_err());
    // A plain connection fails too.
    let plain = RedisLedger::new(&server.address(), patient()).expect("an address");
    assert!(plain.open("s", &ask()).is_err());
    fs::remove_dir_all(folder).expect("the folder");
}
