package dev.penstock.flink.security;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** RFC 7468. */
final class Pem {

    /** Of one store in bytes; the largest trust stores of operating systems are a quarter of it. */
    private static final int LIMIT = 1 << 20;

    private static final Base64.Encoder BASE64 =
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

    private Pem() {}

    static ByteString certificates(List<X509Certificate> certificates) throws CertificateEncodingException {
        ByteString all = ByteString.EMPTY;
        for (X509Certificate certificate : certificates) {
            all = all.concat(block("CERTIFICATE", certificate.getEncoded()));
        }
        return all;
    }

    static ByteString privateKey(byte[] pkcs8) {
        return block("PRIVATE KEY", pkcs8);
    }

    static ByteString limited(ByteString pem, String properties) throws UnsupportedSecurityException {
        if (pem.size() > LIMIT) {
            throw new UnsupportedSecurityException(
                    "the store of '%s' is %d bytes as PEM, more than %d; keep what the brokers need",
                    properties, pem.size(), LIMIT);
        }
        return pem;
    }

    private static ByteString block(String label, byte[] content) {
        byte[] text = BASE64.encode(content);
        ByteString block =
                ByteString.copyFromUtf8("-----BEGIN " + label + "-----\n")
                        .concat(ByteString.copyFrom(text))
                        .concat(ByteString.copyFromUtf8("\n-----END " + label + "-----\n"));
        Arrays.fill(text, (byte) 0);
        return block;
    }
}
